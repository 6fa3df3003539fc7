// SPDX-License-Identifier: Apache-2.0

import Primitives

extension WeservOptions {
    private static let formats = [
        "jpg": "jpeg", "png": "png", "gif": "gif", "tiff": "tiff", "tif": "tiff", "webp": "webp",
        "avif": "avif",
        "av1": "avif", "json": "json",
    ]

    /// Writes format, quality, frames and what concerns the answer.
    mutating func writeOutput(to translation: inout Translation) throws(TranslationError) {
        var format = try format()
        let usual = try defaultFormat()
        if format == nil, usual == "png" { format = usual }
        if self["encoding"] != nil, try word("encoding", ["base64": true]) == true {
            translation.answer = .dataURL
        }
        if format == "json" {
            translation.answer = .facts
        } else {
            translation["format"] = format ?? usual
        }
        try writeEncoding(format, to: &translation)
        try writeFrames(format, to: &translation)
        try writeDelivery(to: &translation)
    }

    /// The format that `output` names; nil for the source's.
    private mutating func format() throws(TranslationError) -> String? {
        // Empty is as absent.
        self["output"] == "" ? nil : try word("output", Self.formats)
    }

    private mutating func defaultFormat() throws(TranslationError) -> String {
        if try hasTransparentParts() { return "source-alpha" }
        if try hasTransparentMask() { return "source-alpha" }
        return try isFilledMaskOfJPEG() ? "png" : "source"
    }

    private mutating func writeEncoding(
        _ format: String?, to translation: inout Translation
    ) throws(TranslationError) {
        let isLossless = isOn("ll") && format.map(OutputFormats.losslessOnRequest.contains) ?? false
        if isLossless { translation["lossless"] = "1" }
        let hasQuality = !isLossless && format.map(OutputFormats.withQuality.contains) ?? true
        if let quality = try integer("q", in: 1...100), hasQuality {
            translation["quality"] = String(quality)
        }
        if isOn("il"), format.map(OutputFormats.progressive.contains) ?? true {
            translation["progressive"] = "1"
        }
        for name in ["l", "af"] where self[name] != nil {
            leniency.note(name, "PNG has one level of compression")
        }
    }

    /// The number of frames; -1, and any text that is no number, mean all.
    mutating func frameCount() throws(TranslationError) -> Int {
        guard let text = self["n"] else { return 1 }
        guard let count = NumberText.leadingInteger(text) else {
            try leniency.ignoreOrThrow("n", "must be a number")
            return -1
        }
        return count == -1 || (1...99_999).contains(count) ? count : 1
    }

    /// One frame unless `n` says otherwise.
    private mutating func writeFrames(
        _ format: String?, to translation: inout Translation
    ) throws(TranslationError) {
        let count = try frameCount()
        var first = try integer("page", in: -2...99_999)
        if let page = first, page < 0 {
            leniency.note("page", "the frames of an animation are equally large: the first one")
            first = nil
        } else if first != nil, isNamed([".jpg", ".jpeg", ".png"]) {
            leniency.note("page", "JPEG and PNG have no pages")
            first = nil
        }
        switch (count, first) {
        case (1, nil): translation["animate"] = "first"
        case (1, let first?): translation["frame"] = String(first)
        case (-1, nil): break
        default:
            if let first { translation["frame"] = String(first) }
            translation["frames"] = count == -1 ? "all" : String(count)
        }
        guard count != 1 else { return }
        if format == "jpeg" || format == "png" { translation["animate"] = "strip" }
        try writeTiming(to: &translation)
    }

    /// Whether the path of the source ends so.
    func isNamed(_ endings: [String]) -> Bool {
        let path = (self["url"] ?? "").prefix { $0 != "?" && $0 != "#" }.lowercased()
        return endings.contains { path.hasSuffix($0) }
    }

    private mutating func writeTiming(to translation: inout Translation) throws(TranslationError) {
        var operations = translation["transform"].map { [$0] } ?? []
        if let count = try integer("loop", in: 0...65_535) { operations.append("loop:\(count)") }
        let delays = list("delay").map { $0 ?? 0 }
        if !delays.isEmpty, delays.allSatisfy({ (1...65_535).contains($0) }) {
            let others = delays.dropFirst().prefix(256).map(String.init).joined(separator: "+")
            operations.append("delay:\(delays[0])\(others.isEmpty ? "" : ":others=\(others)")")
        }
        if !operations.isEmpty { translation["transform"] = operations.joined(separator: ",") }
    }

    private mutating func writeDelivery(to translation: inout Translation) throws(TranslationError) {
        if let name = self["filename"] {
            if (1...78).contains(name.utf8.count), name.utf8.allSatisfy(\.isASCIIAlphanumeric) {
                translation["filename"] = name + ".*"
            } else {
                try leniency.ignoreOrThrow("filename", "must be 1 to 78 letters and digits")
            }
        }
        if let text = self["default"] {
            // To the source itself, or to another picture.
            translation.redirect = (text == "1" ? translation["url"] : Weserv.url(text)).map {
                QueryItem(name: "default", value: $0)
            }
            if translation.redirect == nil { try leniency.ignoreOrThrow("default", "must be 1 or a URL") }
        }
        if self["maxage"] != nil {
            leniency.note("maxage", "the source's fields and the configuration decide on lifetimes")
        }
        for name in ["fpx", "fpy"] where self[name] != nil && !(self["a"] ?? "").hasPrefix("focal") {
            try leniency.ignoreOrThrow(name, "only with a=focal")
        }
    }
}
