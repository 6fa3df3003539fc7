// SPDX-License-Identifier: Apache-2.0

extension WeservOptions {
    /// How the picture gets into its size.
    private enum Fit {
        case inside, outside, cover, fill, contain
    }

    /// The requested size.
    private struct Box {
        let width: SideLength?
        let height: SideLength?
        let fit: Fit
        /// Whether the result may be larger than the picture.
        let mayEnlarge: Bool

        var size: String { SideLength.size(width, height) }
        var hasBoth: Bool { width != nil && height != nil }
        var isEmpty: Bool { width == nil && height == nil }
        /// Whether there may be bars: a side alone is always reached if it may be enlarged.
        var hasBars: Bool { fit == .contain && (hasBoth || !isEmpty && !mayEnlarge && !hasPercent) }
        var hasPercent: Bool { [width, height].contains { $0?.isPercent ?? false } }
    }

    /// The operations from the trim to the last turn, in weserv's order.
    mutating func geometry() throws(TranslationError) -> [String] {
        let trim = try integer("trim", in: 1...254).map { ["trim:\($0):keep=1"] } ?? []
        let box = try box()
        let quarters = try turns()
        let rectangle = try rectangle().map { [$0] } ?? []
        let gravity = try gravity()
        // What is cut to fit is chosen in the turned picture.
        let isTurned = !quarters.isEmpty && !isOn("precrop")
        let isCutLater = box.fit == .cover && box.hasBoth && isTurned
        let resize = box.isEmpty ? [] : [try resize(box, gravity, isCutLater: isCutLater)]
        let cut = isCutLater ? ["crop:\(box.size)\(gravity)"] : []
        let sized = isOn("precrop") ? quarters + rectangle + resize : resize + quarters + cut + rectangle
        return trim + sized + (try bars(box)) + (try freeTurn())
    }

    /// The result's size in pixels; nil where other operations decide on it, too.
    mutating func resultSize(
        of size: (width: Int, height: Int)
    ) throws(TranslationError) -> (width: Int, height: Int)? {
        let box = try box()
        let operations = try geometry()
        guard operations.count == (box.isEmpty ? 0 : 1), ![.outside, .contain].contains(box.fit),
            box.mayEnlarge, !isOn("mtrim")
        else { return nil }
        func pixels(_ side: SideLength?, _ source: Int) -> Double? {
            switch side {
            case .pixels(let number)?: number
            case .percent(let number)?: Double(source) * number / 100
            case nil: nil
            }
        }
        let (width, height) = (pixels(box.width, size.width), pixels(box.height, size.height))
        if box.hasBoth, box.fit != .inside { return (Int(width ?? 0), Int(height ?? 0)) }
        let factors = [width.map { $0 / Double(size.width) }, height.map { $0 / Double(size.height) }]
        let factor = factors.compactMap { $0 }.min() ?? 1
        return (
            max(1, Int((Double(size.width) * factor).rounded())),
            max(1, Int((Double(size.height) * factor).rounded()))
        )
    }

    private mutating func box() throws(TranslationError) -> Box {
        // 0 and what is out of range differ: the one takes the sizes away, the other does not count.
        let density = try decimal("dpr", in: 0...8) ?? 1
        let width = try side("w")?.scaled(by: density)
        let height = try side("h")?.scaled(by: density)
        let text = self["fit"] ?? "inside"
        let isOld = text == "fit" || text == "squaredown"
        let fit = text.hasPrefix("crop") ? .cover : try word("fit", Self.fits) ?? .inside
        return Box(
            width: density > 0 ? width : nil, height: density > 0 ? height : nil, fit: fit,
            mayEnlarge: !isOn("we") && !isOld)
    }

    private static var fits: [String: Fit] {
        [
            "inside": .inside, "outside": .outside, "cover": .cover, "fill": .fill, "contain": .contain,
            "fit": .inside, "fitup": .inside, "square": .cover, "squaredown": .cover, "absolute": .fill,
            "letterbox": .contain,
        ]
    }

    private func resize(_ box: Box, _ gravity: String, isCutLater: Bool) throws(TranslationError) -> String {
        let enlarge = box.mayEnlarge ? ":enlarge=1" : ""
        switch box.fit {
        case .cover where isCutLater:
            try refusePercent(box, "with fit=cover and a turn")
            return "resize:\(box.size):outside\(enlarge)"
        case .cover where box.hasBoth:
            return "resize:\(box.size):\(box.mayEnlarge ? "cover" : "crop")\(gravity)\(enlarge)"
        case .outside where box.hasBoth:
            return "resize:\(box.size):outside\(enlarge)"
        case .fill:
            let size = SideLength.size(box.width ?? .percent(100), box.height ?? .percent(100))
            return "resize:\(size):fill\(box.mayEnlarge ? enlarge : ":bound=side")"
        case .contain where box.hasBoth:
            try refusePercent(box, "with fit=contain")
            return "resize:\(box.size)\(enlarge)"
        default:
            return "resize:\(box.size)\(enlarge)"
        }
    }

    /// A second operation would take the percentage of another picture.
    private func refusePercent(_ box: Box, _ condition: String) throws(TranslationError) {
        guard box.hasPercent else { return }
        throw TranslationError(.unsupported, "w", "a percentage \(condition); give pixels")
    }

    /// The bars beside the picture.
    private mutating func bars(_ box: Box) throws(TranslationError) -> [String] {
        guard box.hasBars else { return [] }
        let color = try visibleColor("cbg") ?? .transparent
        let size = SideLength.size(box.width ?? .percent(100), box.height ?? .percent(100))
        let grow = box.hasBoth ? "" : ":grow=1"
        return ["extend:\(size)\(try gravity(ofBars: true)):color=\(color.text)\(grow)"]
    }

    /// Whether bars or a free turn leave parts transparent.
    mutating func hasTransparentParts() throws(TranslationError) -> Bool {
        let box = try box()
        if box.hasBars, try visibleColor("cbg")?.isOpaque != true { return true }
        guard try !freeTurn().isEmpty else { return false }
        return try visibleColor("rbg")?.isOpaque != true
    }

    // MARK: - Position

    private static let gravities = [
        "center": "center", "top": "north", "right": "east", "bottom": "south", "left": "west",
        "top-left": "northwest", "top-right": "northeast", "bottom-left": "southwest",
        "bottom-right": "southeast",
        "t": "north", "r": "east", "b": "south", "l": "west", "entropy": "entropy", "attention": "smart",
    ]

    /// Where the picture is cut, or where it is put between bars; empty for the middle.
    private mutating func gravity(ofBars isOfBars: Bool = false) throws(TranslationError) -> String {
        guard let text = self["a"] else { return "" }
        if text.hasPrefix("focal") || text.hasPrefix("crop") {
            let (x, y) = try focus(text)
            return
                ":gravity=\(isOfBars ? "share" : "focal"):fx=\(NumberText.text(x)):fy=\(NumberText.text(y))"
        }
        let gravity = try word("a", Self.gravities) ?? "center"
        let needsContent = gravity == "entropy" || gravity == "smart"
        return gravity == "center" || isOfBars && needsContent ? "" : ":gravity=\(gravity)"
    }

    /// The point of interest: `fpx` and `fpy`, or the percentages of the old `focal-X%-Y%` and `crop-X-Y`.
    private mutating func focus(_ text: String) throws(TranslationError) -> (Double, Double) {
        let old = text.split(separator: "-").dropFirst().map { NumberText.leadingInteger($0) }
        guard old.isEmpty else {
            let shares = old.map { (0...100).contains($0 ?? -1) ? Double($0 ?? 50) / 100 : 0.5 }
            return (shares[0], shares.count > 1 ? shares[1] : 0.5)
        }
        return (try decimal("fpx", in: 0...1) ?? 0.5, try decimal("fpy", in: 0...1) ?? 0.5)
    }

    // MARK: - Turns

    /// Quarter turns, then mirrors.
    private mutating func turns() throws(TranslationError) -> [String] {
        let degrees = (try angle() % 360 + 360) % 360
        let turn = degrees > 0 && degrees % 90 == 0 ? ["rotate:\(degrees)"] : []
        let flip = (isOn("flop") ? "h" : "") + (isOn("flip") ? "v" : "")
        return turn + (flip.isEmpty ? [] : ["flip:\(flip)"])
    }

    /// A turn by another angle, with its corners; animations are not turned so.
    private mutating func freeTurn() throws(TranslationError) -> [String] {
        let degrees = try angle() % 360
        guard degrees % 90 != 0, try frameCount() == 1 else { return [] }
        return ["rotate:\(degrees)" + (try visibleColor("rbg").map { ":color=\($0.text)" } ?? "")]
    }

    private mutating func angle() throws(TranslationError) -> Int {
        try integer("ro", in: -999_999...999_999) ?? 0
    }

    // MARK: - Rectangle

    /// `cx`, `cy`, `cw` and `ch`.
    private mutating func rectangle() throws(TranslationError) -> String? {
        var sides: [String: SideLength] = [:]
        for name in ["cw", "ch", "cx", "cy"] where self[name] != nil { sides[name] = try side(name) }
        guard !sides.isEmpty else { return nil }
        let size = SideLength.size(sides["cw"] ?? .percent(100), sides["ch"] ?? .percent(100))
        let (x, y) = (sides["cx"]?.text ?? "0", sides["cy"]?.text ?? "0")
        let hasCorner = sides["cx"] != nil || sides["cy"] != nil
        return "crop:\(size):x=\(x):y=\(y)" + (hasCorner ? ":lenient=sides" : "")
    }
}
