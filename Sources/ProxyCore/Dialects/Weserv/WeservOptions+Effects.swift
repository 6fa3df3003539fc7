// SPDX-License-Identifier: Apache-2.0

extension WeservOptions {
    /// The operations on colours, background and mask, in weserv's order.
    mutating func effects() throws(TranslationError) -> [String] {
        var operations: [String] = []
        if let value = try integer("bri", in: -100...100), value != 0 {
            let levels = NumberText.text(Double(value) * 2.55)
            operations.append("channels:1:1:1:\(levels):\(levels):\(levels)")
        }
        if let modulate = try modulate() { operations.append(modulate) }
        if let value = try integer("con", in: -100...100), value != 0 {
            operations.append("sigmoid:\(NumberText.text(Double(value) * 0.3))")
        }
        if let gamma = gamma() { operations.append("gamma:\(gamma)") }
        if let sharpen = sharpen() { operations.append(sharpen) }
        if let filter = try filter() { operations.append(filter) }
        if let blur = blur() { operations.append("blur:\(blur)") }
        if let color = try visibleColor("tint") { operations.append("tint:\(color.text):lab") }
        let background = try visibleColor("bg")
        if let background { operations.append("background:\(background.text)") }
        let mask = try mask()
        operations += mask
        // A JPEG shows black where the picture is transparent.
        if self["output"] == "jpg", background?.isOpaque != true || !mask.isEmpty {
            operations.append("background:000")
        }
        return operations
    }

    /// Brightness, saturation and hue.
    private mutating func modulate() throws(TranslationError) -> String? {
        let brightness = min(try decimal("mod", in: 0...10_000) ?? 1, 10)
        let saturation = min(try decimal("sat", in: 0...10_000) ?? 1, 10)
        let hue = ((try integer("hue", in: -999_999...999_999) ?? 0) % 360 + 360) % 360
        guard brightness != 1 || saturation != 1 || hue != 0 else { return nil }
        return "modulate:\(NumberText.text(brightness)):\(NumberText.text(saturation)):\(hue)"
    }

    /// The exponent; 2.2 where the value is none or out of range.
    private func gamma() -> String? {
        guard let text = self["gam"] else { return nil }
        let value = NumberText.leadingDecimal(text) ?? -1
        return value == 0 ? nil : NumberText.text((1...3).contains(value) ? value : 2.2)
    }

    /// By a sigma; a mild one where the value is none.
    private func sharpen() -> String? {
        guard let text = self["sharp"] else { return nil }
        let sigma = NumberText.leadingDecimal(text) ?? -1
        guard sigma != 0 else { return nil }
        // As the difference to the mean of nine neighbours, times 0.375.
        guard (0.000001...10).contains(sigma) else { return "sharpen:0.816:0.375" }
        let flat = slope("sharpf") ?? 1
        let jagged = slope("sharpj") ?? 2
        let amount = min(max((flat + jagged) / 2, 0), 10)
        return "sharpen:\(NumberText.text(max(sigma, 0.1))):\(NumberText.text(amount))"
    }

    private func slope(_ name: String) -> Double? {
        self[name].flatMap { NumberText.leadingDecimal($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    private mutating func filter() throws(TranslationError) -> String? {
        // Its grey has the lightness of the colour; its sepia is brighter than CSS's: grey, times 1.2 and 0.8.
        let names = [
            "greyscale": "modulate:1:0", "sepia": "grayscale,channels:1.2:1:0.8", "negate": "invert",
            "duotone": "duotone",
        ]
        guard let name = try word("filt", names) else { return nil }
        guard name == "duotone" else { return name }
        let start = try visibleColor("start")?.text ?? "c83658"
        let stop = try visibleColor("stop")?.text ?? "d8e74f"
        return "duotone:\(start):\(stop):lab"
    }

    /// The sigma; a mild one where the value is none or out of range.
    private func blur() -> String? {
        guard let text = self["blur"] else { return nil }
        let sigma = NumberText.leadingDecimal(text) ?? -1
        guard sigma != 0 else { return nil }
        // The mean of nine neighbours has this sigma.
        return NumberText.text((0.3...1_000).contains(sigma) ? min(sigma, 250) : 0.816)
    }

    private static let shapes: [String: String] = Dictionary(
        uniqueKeysWithValues: [
            "circle", "ellipse", "triangle", "triangle-180", "pentagon", "pentagon-180", "hexagon", "square",
            "star", "heart",
        ].map { ($0, $0) })

    private mutating func mask() throws(TranslationError) -> [String] {
        guard let shape = try word("mask", Self.shapes) else { return [] }
        let mask = "mask:\(shape)\(isOn("mtrim") && shape != "ellipse" ? ":trim=1" : "")"
        guard let color = try visibleColor("mbg") else { return [mask] }
        // One that lets something through is all that is left outside of the shape.
        return color.isOpaque ? ["\(mask):color=\(color.text)"] : [mask, "background:\(color.text)"]
    }

    /// Whether a mask leaves its outside transparent.
    mutating func hasTransparentMask() throws(TranslationError) -> Bool {
        guard try word("mask", Self.shapes) != nil else { return false }
        return try visibleColor("mbg")?.isOpaque != true
    }

    /// Whether a mask makes a PNG of a JPEG although its outside is filled, as weserv does: by the source's name.
    mutating func isFilledMaskOfJPEG() throws(TranslationError) -> Bool {
        guard try word("mask", Self.shapes) != nil else { return false }
        return isNamed([".jpg", ".jpeg"])
    }
}
