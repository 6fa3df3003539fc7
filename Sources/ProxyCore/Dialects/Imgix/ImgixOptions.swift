// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The parameters of an imgix URL; the last of several equal ones wins.
struct ImgixOptions: OptionReading {
    private var texts: [String: String] = [:]
    var leniency: Leniency

    private static let names: Set<String> = [
        "w", "h", "dpr", "ar", "fit", "crop", "fp-x", "fp-y", "fp-z", "fill", "fill-color", "bg", "rect",
        "fm", "auto",
        "q", "lossless", "flip", "rot", "or", "orient", "trim", "trim-color", "trim-md", "trim-tol",
        "trim-sd", "sat",
        "bri", "con", "exp", "gam", "hue", "invert", "sharp", "usm", "usmrad", "blur", "px", "sepia",
        "duotone",
        "duotone-alpha", "pad", "pad-top", "pad-right", "pad-bottom", "pad-left", "border", "border-radius",
        "mask",
        "corner-radius", "mask-bg", "frame", "loop", "reverse", "dl", "expires",
    ]
    /// Parameters that change nothing that can be seen, or name the library that wrote the URL.
    private static let silent: Set<String> = [
        "ixlib", "ixid", "s", "ch", "cs", "chromasub", "colorquant", "colors", "dpi", "iptc", "fp-debug",
        "skip-default-optimizations",
    ]
    /// Parameters that draw, find or measure what we do not; those of these families, too.
    private static let unsupported: Set<String> = [
        "max-w", "max-h", "min-w", "min-h", "faces", "faceindex", "facepad", "palette", "prefix", "high",
        "shad", "vib",
        "htn", "monochrome", "nr", "nrb", "nrs", "page", "pdf-annotation", "interval", "fps", "gif-q",
        "upscale",
        "transparency", "border-radius-inner", "border-top", "border-right", "border-bottom", "border-left",
        "svg-sanitize",
    ]
    private static let unsupportedFamilies = [
        "txt", "mark", "blend", "grid", "fill-gen", "fill-gradient", "bg-remove", "bg-replace", "~text",
        "object-removal",
        "video", "audio", "hls", "jpg-progressive",
    ]

    /// Reads a query without its signature.
    init(_ query: String?, _ leniency: Leniency) throws(TranslationError) {
        self.leniency = leniency
        for item in DialectQuery(query).items {
            // Each has a variant whose value is base64url.
            let isEncoded = item.name.hasSuffix("64")
            let name = isEncoded ? String(item.name.dropLast(2)) : item.name
            guard !Self.unsupported.contains(name), !Self.unsupportedFamilies.contains(where: name.hasPrefix)
            else { throw TranslationError(.unsupported, item.name, "there is no equivalent") }
            guard !Self.silent.contains(name) else { continue }
            guard Self.names.contains(name) else {
                try self.leniency.ignoreOrThrow(item.name, "is no parameter")
                continue
            }
            guard let text = isEncoded ? Self.decoded(item.value ?? "") : item.value ?? "" else {
                try self.leniency.ignoreOrThrow(item.name, "must be base64url of UTF-8, without padding")
                continue
            }
            texts[name == "orient" ? "or" : name] = text
        }
    }

    private static func decoded(_ text: String) -> String? {
        Base64.decodeURL(text.utf8).flatMap { String(validating: $0, as: UTF8.self) }
    }

    subscript(name: String) -> String? { texts[name] }

    /// A share from -1 to 1 of a parameter from -100 to 100; nil for 0.
    mutating func share(_ name: String) throws(TranslationError) -> Double? {
        try number(name, in: -100...100).flatMap { $0 == 0 ? nil : $0 / 100 }
    }

    /// A side: pixels, or up to 1 a share of the source.
    mutating func side(_ name: String, density: Double = 1) throws(TranslationError) -> SideLength? {
        guard let number = try number(name, in: 0...SideLength.maxPixels), number > 0 else { return nil }
        let side = number <= 1 ? SideLength.percent(number * 100) : .pixels(number.rounded())
        return side.scaled(by: density)
    }

    /// One of several words; an empty text is as absent.
    mutating func word(_ name: String, _ words: [String]) throws(TranslationError) -> String? {
        texts[name] == "" ? nil : try word(name, among: words)
    }

    /// The members of a list.
    func list(_ name: String) -> [Substring] { (texts[name] ?? "").split(separator: ",") }
}
