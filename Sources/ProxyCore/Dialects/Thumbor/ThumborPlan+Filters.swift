// SPDX-License-Identifier: Apache-2.0

import Primitives

extension ThumborPlan {
    /// What a filter does; false where its arguments are wrong.
    private typealias Reader = @Sendable (inout ThumborPlan, [String]) throws(TranslationError) -> Bool

    /// Adds what a filter does.
    mutating func add(_ filter: ThumborFilter) throws(TranslationError) {
        let own = isImagor ? Self.imagor[filter.name] : nil
        guard let read = own ?? Self.common[filter.name] else {
            return try skip(filter, "there is no such filter")
        }
        guard try read(&self, filter.arguments) else {
            return try skip(filter, "its arguments are not understood")
        }
    }

    /// The filters of both, by name.
    private static let common: [String: Reader] = [
        // Read with the geometry.
        "no_upscale": { _, _ in true }, "stretch": { _, _ in true }, "focal": { _, _ in true },
        "upscale": { (plan, _) in
            plan.addUpscale()
            return true
        },
        // What it would remove is never there: pixels are sRGB, metadata is stripped, regions are not looked for.
        "strip_icc": { _, _ in true }, "strip_exif": { _, _ in true }, "extract_focal": { _, _ in true },
        "format": { (plan, values) in plan.setFormat(values) },
        "quality": count(from: 0) { $0.quality = min(max($1, 1), 100) },
        "max_bytes": count(from: 1) { $0.output["max_bytes"] = "\($1)" },
        "blur": { (plan, values) in plan.addBlur(values) },
        "brightness": { (plan, values) in plan.addBrightness(values) },
        "contrast": { (plan, values) in plan.addContrast(values) },
        "saturation": number(from: 0) { plan, factor in
            plan.operations.append("saturation:\(NumberText.text(min(factor, 10))):perceived")
        },
        "grayscale": { (plan, _) in
            plan.operations.append(plan.isImagor ? "grayscale" : "grayscale:weights=bt601")
            return true
        },
        "equalize": { (plan, _) in
            plan.operations.append("equalize")
            return true
        },
        "rgb": { (plan, values) in
            guard let shares = numbers(values, count: 3) else { return false }
            plan.addLevels(shares)
            return true
        },
        "colorize": { (plan, values) throws(TranslationError) in try plan.addColorize(values) },
        "noise": { (plan, values) in
            guard let amount = values.first.flatMap(NumberText.decimal), amount >= 0 else { return false }
            let seed = values.count > 1 ? ThumborPath.count(values[1]) : nil
            if amount > 0 {
                plan.operations.append(
                    "noise:\(NumberText.text(min(amount, 100)))" + (seed.map { ":seed=\($0)" } ?? ""))
            }
            return true
        },
        "sharpen": { (plan, values) in plan.addSharpen(values) },
        "convolution": { (plan, values) in plan.addConvolution(values) },
        "curve": { (plan, values) in plan.addCurve(values) },
        "rotate": number { plan, angle in
            // Counterclockwise; what is no quarter turn does nothing.
            let clockwise = (360 - (Int(angle) % 360 + 360) % 360) % 360
            if clockwise != 0, clockwise % 90 == 0 {
                plan.operations.append("rotate:\(clockwise)")
                plan.hasOtherSize = true
            }
        },
        "proportion": { (plan, values) in plan.addProportion(values) },
        "round_corner": { (plan, values) throws(TranslationError) in try plan.addRoundCorner(values) },
        "background_color": { (plan, values) throws(TranslationError) in
            guard let color = values.first.flatMap(color) else { return false }
            if color == "auto" {
                try plan.refuse("background_color", "auto: name a colour")
                return true
            }
            if !plan.isImagor { try checkColor(color, "background_color") }
            plan.operations.append("background:\(color)")
            return true
        },
        "fill": { (plan, values) throws(TranslationError) in try plan.addFill(values) },
        "watermark": { (plan, values) throws(TranslationError) in try plan.addWatermark(values) },
        "max_age": { (plan, _) throws(TranslationError) in
            try plan.refuse("max_age", "lifetimes follow the origin's, or the settings in 'freshness'")
            return true
        },
        "autojpg": { (plan, _) throws(TranslationError) in
            try plan.refuse("autojpg", "name a format")
            return true
        },
    ]

    /// The filters that imagor alone has, or reads otherwise.
    private static let imagor: [String: Reader] = [
        "strip_metadata": { _, _ in true }, "preview": { _, _ in true }, "to_colorspace": { _, _ in true },
        // Read before the others.
        "orient": { _, _ in true },
        "attachment": { (plan, values) in
            plan.output["download"] = "1"
            if let name = values.first, !name.isEmpty { plan.output["filename"] = name }
            return true
        },
        "expire": { (plan, values) throws(TranslationError) in try plan.addExpiry(values) },
        "hue": number { plan, angle in
            plan.operations.append("hue:\(NumberText.text(angle.truncatingRemainder(dividingBy: 360)))")
        },
        "pixelate": count(from: 1) { $0.operations.append("pixelate:\($1)") },
        "saturation": number { plan, percent in
            plan.operations.append("saturation:\(NumberText.text(min(max(0, 1 + percent / 100), 10)))")
        },
        "blur": number(from: 0) { plan, sigma in
            if sigma >= 0.1 { plan.operations.append("blur:\(NumberText.text(min(sigma, 250)))") }
        },
        "sharpen": number(from: 0) { plan, sigma in
            if sigma >= 0.1 { plan.operations.append("sharpen:\(NumberText.text(min(sigma, 250)))") }
        },
        "page": count(from: 1) { $0.output["frame"] = "\($1 - 1)" },
        "max_frames": count(from: 1) { plan, count in
            if count == 1 { plan.output["animate"] = "first" } else { plan.output["frames"] = "\(count)" }
        },
        "trim": { (plan, values) in
            guard let tolerance = ThumborPath.count(values.first ?? "1") else { return false }
            let corner = values.count > 1 && values[1] == "bottom-right" ? ":corner=southeast" : ""
            plan.operations.append("trim:\(threshold(ofTolerance: tolerance))\(corner)")
            return true
        },
        "round_corner": { (plan, values) in
            guard let radius = values.first.flatMap(ThumborPath.count) else { return false }
            let down = values.count > 1 ? ThumborPath.count(values[1]) ?? radius : radius
            plan.operations.append("round:\(radius):ry=\(down)")
            if values.count > 2, let color = color(values[2]) {
                plan.operations.append("background:\(color)")
            }
            return true
        },
        "label": { (plan, values) in plan.addLabel(values) },
    ]

    /// A filter whose first argument is a number that is not less than `least`; others are ignored.
    private static func number(
        from least: Double = -.infinity, _ use: @escaping @Sendable (inout ThumborPlan, Double) -> Void
    ) -> Reader {
        { (plan, values) in
            guard let number = values.first.flatMap(NumberText.decimal), number >= least else { return false }
            use(&plan, number)
            return true
        }
    }

    /// The same for a whole number.
    private static func count(
        from least: Int, _ use: @escaping @Sendable (inout ThumborPlan, Int) -> Void
    ) -> Reader {
        { (plan, values) in
            guard let count = values.first.flatMap(ThumborPath.count), count >= least else { return false }
            use(&plan, count)
            return true
        }
    }

    /// The numbers of all arguments, if they are as many as wanted and all are numbers.
    static func numbers(_ values: [String], count: Int) -> [Double]? {
        let numbers = values.compactMap(NumberText.decimal)
        return values.count == count && numbers.count == count ? numbers : nil
    }

    /// Refuses what has no equivalent; skips it if the settings say so.
    mutating func refuse(_ name: String, _ reason: String) throws(TranslationError) {
        guard settings.lenient else { throw TranslationError(.unsupported, name, reason) }
        output.ignored.append("\(name): \(reason)")
    }

    /// Refuses a colour that thumbor fails for: it knows names and 3, 4, 6 or 8 hexadecimal digits.
    static func checkColor(_ text: String, _ name: String) throws(TranslationError) {
        guard DialectColor(text, alpha: .last) == nil else { return }
        throw TranslationError(.invalid, name, "'\(text.excerpt)' is no colour")
    }

    /// A format of theirs; thumbor keeps the source's for what it does not know.
    private mutating func setFormat(_ values: [String]) -> Bool {
        let known = ["jpeg", "jpg", "png", "gif", "webp", "avif"] + (isImagor ? ["jxl", "tiff"] : [])
        format = nil
        guard let name = values.first?.lowercased(), known.contains(name) else { return false }
        format = name == "jpg" ? "jpeg" : name
        return true
    }
}
