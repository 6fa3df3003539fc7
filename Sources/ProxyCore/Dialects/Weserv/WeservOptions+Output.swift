// SPDX-License-Identifier: Apache-2.0

extension WeservOptions {
    private static let formats = [
        "jpg": "jpeg", "png": "png", "gif": "gif", "tiff": "tiff", "tif": "tiff", "webp": "webp",
        "avif": "avif",
        "av1": "avif", "json": "json",
    ]

    /// Writes format, quality, frames and what concerns the answer.
    mutating func writeOutput(to translation: inout Translation) throws(TranslationError) {
        let format = try format()
        if self["encoding"] != nil, try word("encoding", ["base64": true]) == true {
            translation.answer = .dataURL
        }
        if format == "json" {
            translation.answer = .facts
        } else {
            let usual = try defaultFormat()
            translation["format"] = format ?? usual
        }
        try writeEncoding(format, to: &translation)
        try writeFrames(to: &translation)
        try writeDelivery(to: &translation)
    }

    /// The format that `output` names; nil for the source's.
    private mutating func format() throws(TranslationError) -> String? {
        // Empty is as absent.
        self["output"] == "" ? nil : try word("output", Self.formats)
    }

    private mutating func defaultFormat() throws(TranslationError) -> String {
        let isTransparent = [try hasTransparentParts(), try hasTransparentMask()].contains(true)
        return isTransparent ? "source-alpha" : "source"
    }

    private mutating func writeEncoding(
        _ format: String?, to translation: inout Translation
    ) throws(TranslationError) {
        let isLossless = isOn("ll") && (format == "webp" || format == "avif")
        if isLossless { translation["lossless"] = "1" }
        let hasQuality = !["png", "gif", "tiff", "json"].contains(format) && !isLossless
        if let quality = try integer("q", in: 1...100), hasQuality {
            translation["quality"] = String(quality)
        }
        if isOn("il"), format == nil || format == "jpeg" || format == "png" {
            translation["progressive"] = "1"
        }
        for name in ["l", "af"] where self[name] != nil {
            leniency.note(name, "PNG has one level of compression")
        }
    }

    /// One frame unless `n` says otherwise.
    private mutating func writeFrames(to translation: inout Translation) throws(TranslationError) {
        let count = try integer("n", in: -1...99_999) ?? 1
        let first = try integer("page", in: -2...99_999)
        if let first, first < 0 {
            throw TranslationError(.unsupported, "page", "the largest or smallest page; give its number")
        }
        switch (count, first) {
        case (-1, let first?) where first > 0:
            throw TranslationError(
                .unsupported, "n", "all pages from another than the first; give their number")
        case (-1, _): break
        case (0...1, nil): translation["animate"] = "first"
        case (0...1, let first?): translation["frame"] = String(first)
        default:
            if let first { translation["frame"] = String(first) }
            translation["frames"] = String(count)
        }
        guard count != 0, count != 1 else { return }
        try writeTiming(to: &translation)
    }

    private mutating func writeTiming(to translation: inout Translation) throws(TranslationError) {
        var operations = translation["transform"].map { [$0] } ?? []
        if let count = try integer("loop", in: 0...65_535) { operations.append("loop:\(count)") }
        let delays = Set(list("delay").map { Int($0 ?? 0) })
        if delays.count > 1 {
            throw TranslationError(.unsupported, "delay", "a delay for each frame; give one for all")
        }
        if let delay = delays.first, (1...65_535).contains(delay) { operations.append("delay:\(delay)") }
        if !operations.isEmpty { translation["transform"] = operations.joined(separator: ",") }
    }

    private mutating func writeDelivery(to translation: inout Translation) throws(TranslationError) {
        if let name = self["filename"] {
            if (1...78).contains(name.utf8.count),
                name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
            {
                translation["filename"] = name + ".*"
            } else {
                try leniency.ignore("filename", "must be 1 to 78 letters and digits")
            }
        }
        if let text = self["default"] {
            // To the source itself, or to another picture.
            translation.redirect = text == "1" ? translation["url"] : Weserv.url(text)
            if translation.redirect == nil { try leniency.ignore("default", "must be 1 or a URL") }
        }
        if self["maxage"] != nil {
            leniency.note("maxage", "the source's fields and the configuration decide on lifetimes")
        }
        for name in ["fpx", "fpy"] where self[name] != nil && !(self["a"] ?? "").hasPrefix("focal") {
            try leniency.ignore(name, "only with a=focal")
        }
    }
}
