// SPDX-License-Identifier: Apache-2.0

extension ImgixOptions {
    private static let formats = [
        "jpg": "jpeg", "jpeg": "jpeg", "pjpg": "jpeg", "png": "png", "png8": "png", "png32": "png",
        "webp": "webp",
        "avif": "avif", "gif": "gif", "tiff": "tiff", "json": "json",
    ]
    private static let unsupportedFormats: Set<String> = [
        "jp2", "jxr", "jxl", "mp4", "webm", "blurhash", "mp3", "svg",
    ]

    /// Writes what the parameters mean.
    mutating func write(to translation: inout Translation) throws(TranslationError) {
        let operations = try geometry() + effects() + playback()
        if !operations.isEmpty { translation["transform"] = operations.joined(separator: ",") }
        try writeFormat(to: &translation)
        if let time = try number("expires", in: 0...999_999_999_9) {
            translation["expires"] = String(Int(time))
        }
        if let name = self["dl"] {
            translation["download"] = "1"
            if !name.isEmpty { translation["filename"] = name }
        }
        if let frame = try number("frame", in: 1...99_999) { translation["frame"] = String(Int(frame) - 1) }
    }

    // MARK: - Pixels

    /// The operations on colours and edges, in imgix's order.
    private mutating func effects() throws(TranslationError) -> [String] {
        var operations = try adjustments()
        if try word("invert", ["true", "false"]) == "true" { operations.append("invert") }
        operations += try details()
        operations += try shapes()
        operations += try pad()
        // Bars and borders have an opaque colour already, and get any other one here.
        if let color = try color("bg"), !color.isTransparent { operations.append("background:\(color.text)") }
        if let color = try color("mask-bg"), self["mask"] != nil, !color.isTransparent {
            operations.append("background:\(color.text)")
        }
        return operations
    }

    private mutating func adjustments() throws(TranslationError) -> [String] {
        var operations: [String] = []
        if let share = try share("exp") { operations.append("exposure:\(NumberText.text(share * 2))") }
        if let share = try share("bri") { operations.append("brightness:\(NumberText.text(1 + share))") }
        if let share = try share("con") { operations.append("contrast:\(NumberText.text(1 + share))") }
        // A positive value lightens there; a power of two for the way to either end.
        if let share = try share("gam") {
            operations.append("gamma:\(NumberText.text(share < 0 ? 1 - share : 1 / (1 + share)))")
        }
        if let degrees = try number("hue", in: 0...359), degrees > 0 {
            operations.append("hue:\(NumberText.text(degrees))")
        }
        if let share = try share("sat") { operations.append("saturation:\(NumberText.text(1 + share))") }
        if let amount = try number("sepia", in: 0...100), amount > 0 {
            operations.append("sepia:\(NumberText.text(amount / 100))")
        }
        if self["duotone"] != nil { operations += try duotone() }
        return operations
    }

    private mutating func duotone() throws(TranslationError) -> [String] {
        let colors = list("duotone").compactMap { DialectColor($0, alpha: .first) }
        guard colors.count == 2 else {
            try leniency.ignoreOrThrow("duotone", "must be two colours")
            return []
        }
        guard try number("duotone-alpha", in: 0...100) ?? 100 == 100 else {
            throw TranslationError(.unsupported, "duotone-alpha", "must be 100")
        }
        return ["duotone:\(colors[0].text):\(colors[1].text)"]
    }

    private mutating func details() throws(TranslationError) -> [String] {
        var operations: [String] = []
        if let amount = try number("sharp", in: 0...100), amount > 0 {
            operations.append("sharpen:amount=\(NumberText.text(amount / 10))")
        }
        if let amount = try number("usm", in: -100...100), amount > 0 {
            let radius = NumberText.text(min(max(try number("usmrad", in: 0...500) ?? 2.5, 0.1), 250))
            operations.append("sharpen:\(radius):\(NumberText.text(amount / 100))")
        }
        // 2000 is the strongest; a tenth of it is about the deviation in pixels.
        if let amount = try number("blur", in: 0...2_000), amount > 0 {
            operations.append("blur:\(NumberText.text(max(amount / 10, 0.1)))")
        }
        if let side = try number("px", in: 0...100), side >= 1 {
            operations.append("pixelate:\(NumberText.text(side))")
        }
        return operations
    }

    private mutating func shapes() throws(TranslationError) -> [String] {
        var operations: [String] = []
        if let mask = self["mask"] {
            guard ["ellipse", "corners"].contains(mask) else {
                throw TranslationError(.unsupported, "mask", "must be ellipse or corners")
            }
            let radius = try radius("corner-radius") ?? "max"
            operations.append(mask == "ellipse" ? "mask:ellipse" : "round:\(radius)")
        }
        guard self["border"] != nil else { return operations }
        let parts = list("border")
        guard parts.count == 2, let width = NumberText.decimal(parts[0]), (0...10_000).contains(width),
            let color = DialectColor(parts[1], alpha: .first)
        else {
            try leniency.ignoreOrThrow("border", "must be width,colour")
            return operations
        }
        let radius = try radius("border-radius") ?? "0"
        return operations + ["round:\(radius):border=\(NumberText.text(width)):color=\(color.text)"]
    }

    /// One radius for all corners.
    private mutating func radius(_ name: String) throws(TranslationError) -> String? {
        let radii = Set(list(name).map { NumberText.decimal($0) })
        guard let radius = radii.first else { return nil }
        guard radii.count == 1 else {
            throw TranslationError(.unsupported, name, "a radius for each corner; give one for all")
        }
        guard let radius, (0...10_000).contains(radius) else {
            try leniency.ignoreOrThrow(name, "must be pixels")
            return nil
        }
        return NumberText.text(radius)
    }

    private mutating func playback() throws(TranslationError) -> [String] {
        var operations: [String] = []
        if let count = try number("loop", in: 0...65_535) { operations.append("loop:\(Int(count))") }
        if try word("reverse", ["true", "false"]) == "true" { operations.append("reverse") }
        return operations
    }

    // MARK: - Format

    private mutating func writeFormat(to translation: inout Translation) throws(TranslationError) {
        let given = self["fm"] ?? ""
        if Self.unsupportedFormats.contains(given) {
            throw TranslationError(
                .unsupported, "fm", "must be one of \(Self.formats.keys.sorted().joined(separator: ", "))")
        }
        let format = try word("fm", Self.formats.keys.sorted()).flatMap { Self.formats[$0] }
        guard format != "json" else {
            translation.answer = .facts
            translation["transform"] = nil
            return
        }
        let isAutomatic = try automatic()
        translation["format"] = isAutomatic ? "auto" : format ?? "source"
        if given == "pjpg", !isAutomatic { translation["progressive"] = "1" }
        let isLossless = self["lossless"] == "1" || self["lossless"] == "true"
        let canBeLossless = isAutomatic || format.map(OutputFormats.losslessOnRequest.contains) ?? false
        if isLossless, canBeLossless { translation["lossless"] = "1" }
        let hasQuality = isAutomatic || format.map(OutputFormats.withQuality.contains) ?? true
        if let quality = try number("q", in: 0...100), hasQuality, !(isLossless && canBeLossless) {
            translation["quality"] = String(max(1, Int(quality)))
        }
    }

    /// Whether `Accept` chooses the format.
    private mutating func automatic() throws(TranslationError) -> Bool {
        var isAutomatic = false
        for word in list("auto") {
            switch word {
            case "format", "compress", "true": isAutomatic = true
            case "enhance", "redeye":
                throw TranslationError(.unsupported, "auto", "'\(word)' has no equivalent")
            default: try leniency.ignoreOrThrow("auto", "must be some of format, compress")
            }
        }
        return isAutomatic
    }
}
