// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The options of a Cloudflare URL: `name=value`, joined by commas.
struct CloudflareOptions: OptionReading {
    private var texts: [String: String] = [:]
    var leniency = Leniency(isLenient: false)

    private static let names: Set<String> = [
        "width", "height", "dpr", "fit", "gravity", "background", "rotate", "flip", "trim", "trim.top",
        "trim.left",
        "trim.width", "trim.height", "format", "quality", "compression", "slow-connection-quality",
        "metadata",
        "anim", "blur", "sharpen", "brightness", "contrast", "gamma", "saturation", "onerror",
    ]
    private static let shortNames = [
        "w": "width", "h": "height", "q": "quality", "f": "format", "g": "gravity",
        "scq": "slow-connection-quality",
    ]
    private static let unsupported: Set<String> = [
        "border", "zoom", "face-zoom", "segment", "upscale", "draw", "origin-auth", "trim.border",
        "trim.border.color",
        "trim.border.tolerance", "trim.border.keep",
    ]

    /// Reads what stands before the source.
    init(_ text: Substring) throws(TranslationError) {
        guard !text.isEmpty else { throw TranslationError(.invalid, "", "at least one option is needed") }
        for pair in text.split(separator: ",", omittingEmptySubsequences: false) {
            let decoded = String(decoding: PercentText.decoded(pair), as: UTF8.self)
            guard let equals = decoded.firstIndex(of: "=") else {
                throw TranslationError(.invalid, decoded.excerpt, "an option is name=value")
            }
            let given = String(decoded[..<equals])
            let name = Self.shortNames[given] ?? given
            guard !Self.unsupported.contains(name) else {
                throw TranslationError(.unsupported, name, "there is no equivalent")
            }
            guard Self.names.contains(name) else {
                let hint = suggestion(for: given, among: Self.names).map { "; \($0)" } ?? ""
                throw TranslationError(.invalid, given.excerpt, "is no option\(hint)")
            }
            guard texts.updateValue(String(decoded[decoded.index(after: equals)...]), forKey: name) == nil
            else { throw TranslationError(.invalid, name, "is given more than once") }
        }
    }

    subscript(name: String) -> String? { texts[name] }

    /// Writes what the options mean.
    mutating func write(to translation: inout Translation) throws(TranslationError) {
        let operations = try geometry() + effects()
        if !operations.isEmpty { translation["transform"] = operations.joined(separator: ",") }
        try writeFormat(to: &translation)
        for name in ["compression", "slow-connection-quality"] where texts[name] != nil {
            translation.ignored.append("\(name): encoders are configured for all")
        }
    }

    // MARK: - Geometry

    /// The operations up to the size, in Cloudflare's order.
    private mutating func geometry() throws(TranslationError) -> [String] {
        let flip =
            try word("flip", among: ["h", "v", "hv", "vh"]).map { ["flip:\($0 == "vh" ? "hv" : $0)"] } ?? []
        let angle = try word("rotate", among: ["0", "90", "180", "270", "360"])
        let turn = angle.map { Int($0) ?? 0 }.map { $0 % 360 == 0 ? [] : ["rotate:\($0)"] } ?? []
        // A decoder shrinks for a size that comes first; a mirror may come later unless what is cut depends on it.
        let cutsMiddle = try gravity().isEmpty
        let mayFlipLater = turn.isEmpty && cutsMiddle
        return try trim() + (mayFlipLater ? sized() + flip : flip + turn + sized())
    }

    /// The sides that are cut off, or the rectangle that stays.
    private mutating func trim() throws(TranslationError) -> [String] {
        if let text = texts["trim"] {
            guard text != "border" else { return ["trim"] }
            let sides = text.split(separator: ";", omittingEmptySubsequences: false).map {
                NumberText.integer($0)
            }
            guard sides.count == 4, sides.allSatisfy({ $0.map { (0...100_000).contains($0) } ?? false })
            else {
                throw TranslationError(.invalid, "trim", "must be TOP;RIGHT;BOTTOM;LEFT in pixels, or border")
            }
            let cuts = sides.map { $0 ?? 0 }
            return cuts == [0, 0, 0, 0] ? [] : ["inset:" + cuts.map(String.init).joined(separator: ":")]
        }
        let rectangle = try ["width", "height", "left", "top"].map { (side) throws(TranslationError) in
            try number("trim.\(side)", in: 0...SideLength.maxPixels)
        }
        guard rectangle.contains(where: { $0 != nil }) else { return [] }
        let (width, height) = (
            rectangle[0].map { SideLength.pixels($0) }, rectangle[1].map { SideLength.pixels($0) }
        )
        let (left, top) = (NumberText.text(rectangle[2] ?? 0), NumberText.text(rectangle[3] ?? 0))
        return [
            "crop:\(SideLength.size(width ?? .percent(100), height ?? .percent(100))):x=\(left):y=\(top)"
        ]
    }

    private mutating func sized() throws(TranslationError) -> [String] {
        let density = try number("dpr", in: 0.1...10) ?? 1
        let width = texts["width"] == "auto" ? nil : try side("width", density)
        let height = try side("height", density)
        let fit =
            try word("fit", among: ["scale-down", "contain", "cover", "crop", "pad", "squeeze"])
            ?? "scale-down"
        let gravity = try gravity()
        let color = try background()
        guard width != nil || height != nil else { return [] }
        let size = SideLength.size(width, height)
        let hasBoth = width != nil && height != nil
        switch fit {
        case "scale-down": return ["resize:\(size)"]
        case "cover" where hasBoth: return ["resize:\(size):cover\(gravity):enlarge=1"]
        case "crop": return ["resize:\(size)" + (hasBoth ? ":crop\(gravity)" : "")]
        case "squeeze" where hasBoth: return ["resize:\(size):fill:enlarge=1"]
        case "pad" where hasBoth:
            return ["resize:\(size):enlarge=1", "extend:\(size):color=\((color ?? .white).ofBars.text)"]
        default: return ["resize:\(size):enlarge=1"]
        }
    }

    private mutating func side(_ name: String, _ density: Double) throws(TranslationError) -> SideLength? {
        guard let number = try number(name, in: 1...SideLength.maxPixels) else { return nil }
        return .pixels(min(number * density, SideLength.maxPixels))
    }

    private static let gravities = [
        "auto": ":gravity=smart", "face": ":gravity=smart", "left": ":gravity=west", "right": ":gravity=east",
        "top": ":gravity=north", "bottom": ":gravity=south", "center": "",
    ]

    private mutating func gravity() throws(TranslationError) -> String {
        try value("gravity", "must be one of auto, face, left, right, top, bottom, or XxY from 0 to 1") {
            text in
            Self.gravities[text] ?? Self.share(text)
        } ?? ""
    }

    private static func share(_ text: String) -> String? {
        let shares = text.split(separator: "x", omittingEmptySubsequences: false).map {
            NumberText.decimal($0)
        }
        guard shares.count == 2, let x = shares[0], let y = shares[1], (0...1).contains(x),
            (0...1).contains(y)
        else { return nil }
        return ":gravity=share:fx=\(NumberText.text(x)):fy=\(NumberText.text(y))"
    }

    // MARK: - Colours

    private mutating func background() throws(TranslationError) -> DialectColor? {
        try value("background", "must be a CSS colour: a name, #RRGGBB or rgb()") { DialectColor(css: $0) }
    }

    private mutating func effects() throws(TranslationError) -> [String] {
        var operations: [String] = []
        if let color = try background(), !color.isTransparent {
            operations.append("background:\(color.text)")
        }
        for name in ["brightness", "contrast", "gamma", "saturation"] {
            guard let amount = try number(name, in: 0...10), amount != 1 else { continue }
            // A gamma above 1 lightens there; 0 is no change.
            if name == "gamma", amount == 0 { continue }
            operations.append(
                "\(name):\(NumberText.text(name == "gamma" ? min(max(1 / amount, 0.1), 10) : amount))")
        }
        // A radius reaches as far as twice the deviation.
        if let radius = try number("blur", in: 1...250) {
            operations.append("blur:\(NumberText.text(radius / 2))")
        }
        if let amount = try number("sharpen", in: 0...10), amount > 0 {
            operations.append("sharpen:amount=\(NumberText.text(amount))")
        }
        return operations
    }

    // MARK: - Format

    private static let formats = [
        "auto": "auto", "avif": "avif", "webp": "webp", "jpeg": "jpeg", "baseline-jpeg": "jpeg", "png": "png",
        "json": "json",
    ]
    private static let qualities = ["high": 85, "medium-high": 75, "medium-low": 60, "low": 45]

    private mutating func writeFormat(to translation: inout Translation) throws(TranslationError) {
        let text = try word("format", among: Self.formats.keys.sorted())
        let format = text.flatMap { Self.formats[$0] } ?? "source"
        let quality = try quality()
        if format == "json" {
            translation.answer = .facts
            translation["transform"] = nil
            return
        }
        translation["format"] = format
        if text == "baseline-jpeg" { translation["progressive"] = "0" }
        if let quality, format != "png" { translation["quality"] = String(quality) }
        if let kept = try word("metadata", among: ["keep", "copyright", "none"]), kept != "copyright" {
            translation["metadata"] = kept
        }
        if try word("anim", among: ["true", "false"]) == "false" { translation["animate"] = "first" }
        if try word("onerror", among: ["redirect"]) != nil {
            translation.redirect = translation["url"].map { .init(name: "onerror", value: $0) }
        }
    }

    private mutating func quality() throws(TranslationError) -> Int? {
        try value("quality", "must be from 1 to 100, or high, medium-high, medium-low, low") { text in
            Self.qualities[text] ?? NumberText.integer(text).flatMap { (1...100).contains($0) ? $0 : nil }
        }
    }
}
