// SPDX-License-Identifier: Apache-2.0

/// `resize:300x200:cover` — fits inside, covers and cuts, or stretches.
package struct Resize: ImageTransforming {
    package static let name = "resize"
    package static let summary = "Fits inside a size, covers it and cuts the rest, or stretches to it."
    package static let parameters = [
        size, mode, Gravity.parameter, enlarge, Gravity.focalX, Gravity.focalY, CutPlacement.x,
        CutPlacement.y,
        CutPlacement.px, CutPlacement.py, minWidth, minHeight, zoomX, zoomY, density, bound, swap, down, even,
    ]

    private static let size = TransformParameter(
        "size", .size, .absent, isScaled: true,
        "The wanted size: WxH, Wx or xH; required without minwidth, minheight, zoomx, zoomy and density.")
    private static let mode = TransformParameter(
        "mode", .word(["fit", "cover", "crop", "auto", "outside", "fill"]), .value(.word("fit")),
        "fit stays inside, cover fills and cuts, crop does so but leaves a side alone on which the picture is too small, "
            + "auto is crop where picture and size are both portrait or both landscape, as which a square counts, and else "
            + "fit, "
            + "outside covers without cutting, fill stretches.")
    private static let enlarge = TransformParameter(
        "enlarge", .word(["0", "1", "partly"]), .value(.word("0")),
        "Whether the result may be larger than the source; if not, it keeps the requested aspect. partly leaves a picture "
            + "alone that is smaller than each wanted side, and may enlarge others.")
    private static let minWidth = least("minwidth", "width")
    private static let minHeight = least("minheight", "height")
    private static let zoomX = factor("zoomx", "Multiplies the width that the result would have otherwise.")
    private static let zoomY = factor("zoomy", "Multiplies the height that the result would have otherwise.")
    private static let density = factor(
        "density",
        "Multiplies the size, without enlarge as far as the picture has pixels for it, and as much the lengths of pad, extend and watermark after it."
    )
    private static let bound = TransformParameter(
        "bound", .word(["box", "side", "source"]), .value(.word("box")),
        "What is reduced where mode=fill may not enlarge: the box with its aspect, or the side that is too long; source for the "
            + "wanted sides, which are then at most those of the picture as it was before all operations."
    )
    private static let swap = TransformParameter.flag(
        "swap",
        "Whether width and height are exchanged if one of size and picture is landscape and the other portrait."
    )

    private static let down = TransformParameter.flag(
        "down", "Whether fit and fill round sides down that are not whole; else half up.")

    private static let even = TransformParameter.flag(
        "even",
        "Whether a side that is left out is rounded before the picture is fitted, halves to the even number.")

    private static func least(_ name: String, _ side: String) -> TransformParameter {
        TransformParameter(
            name, .length(1...100_000), .absent, isScaled: true,
            "The least \(side) before the cut, whatever enlarge says; what then exceeds the size is cut.")
    }

    private static func factor(_ name: String, _ doc: String) -> TransformParameter {
        TransformParameter(
            name, .number(FixedNumber(thousandths: 1)...FixedNumber(100)),
            .value(.number(FixedNumber(1))), doc)
    }

    /// How the picture is fitted to the requested size.
    enum Mode: String {
        case fit, cover, crop, auto, outside, fill
    }

    /// Whether the result may be larger than the picture.
    enum Enlarging: String {
        case never = "0"
        case always = "1"
        case partly
    }

    package static let toleratesIntermediate = true

    package let arguments: TransformArguments
    let wanted: SizeRequest?
    let mode: Mode
    let enlarging: Enlarging
    private let placement: CutPlacement
    let minimum: (width: Length?, height: Length?)
    let zoom: (x: Double, y: Double)
    let wantedDensity: Double
    private let boundsSides: Bool
    private let boundsWanted: Bool
    private let swaps: Bool
    private let roundsDown: Bool

    package init(arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        wanted = arguments.size(Self.size)
        mode = arguments.choice(Self.mode) ?? .fit
        enlarging = arguments.choice(Self.enlarge) ?? .never
        placement = try CutPlacement(arguments)
        minimum = (arguments.length(Self.minWidth), arguments.length(Self.minHeight))
        zoom = (arguments.number(Self.zoomX) ?? 1, arguments.number(Self.zoomY) ?? 1)
        wantedDensity = arguments.number(Self.density) ?? 1
        boundsSides = arguments[Self.bound] == .word("side")
        boundsWanted = arguments[Self.bound] == .word("source")
        swaps = arguments.isOn(Self.swap)
        roundsDown = arguments.isOn(Self.down)
        guard wanted != nil || hasFactors else { throw arguments.error(.missing, Self.size) }
        try checkCombinations()
    }

    private func checkCombinations() throws(TransformError) {
        let cuts = [.cover, .crop, .auto].contains(mode) || minimum.width != nil || minimum.height != nil
        let isDefault = arguments.given[Self.mode.name] == nil
        let hint = (isDefault ? ", the default" : "") + "; only with cover, crop or auto"
        for parameter in [Gravity.parameter, CutPlacement.x, CutPlacement.y] where !cuts {
            guard let value = arguments.given[parameter.name], value != .word("center") else { continue }
            throw arguments.error(.conflict(with: "mode=\(mode.rawValue)\(hint)"), parameter)
        }
        if boundsSides, mode != .fill {
            throw arguments.error(.conflict(with: "mode=\(mode.rawValue)"), Self.bound)
        }
    }

    /// Whether more than size and mode decides the result's size.
    private var hasFactors: Bool {
        minimum.width != nil || minimum.height != nil || zoom != (1, 1) || wantedDensity != 1
    }

    /// The two steps of a resize.
    package struct Plan: Equatable {
        /// The size that the picture is resampled to.
        package let scaled: PixelSize
        /// The size that is then cut out of it.
        package let cut: PixelSize
        /// The size of the picture before.
        let source: PixelSize
        /// What later lengths are multiplied by.
        var density = 1.0
    }

    /// Decides the steps for a picture of `source`.
    ///
    /// - Parameters:
    ///   - source: the picture's size before this operation.
    ///   - first: the picture's size before all operations, if another.
    package func plan(for source: PixelSize, first: PixelSize? = nil) -> Plan {
        let limited = boundsWanted ? wanted?.bounded(by: first ?? source) : wanted
        let wanted = swaps ? limited?.swapped(for: source) : limited
        let stays = enlarging == .partly && wanted?.exceeds(source) == true
        if stays { return Plan(scaled: source, cut: source, source: source) }
        guard !hasFactors, let wanted else { return ResizeFactors(self, wanted, source).plan }
        let isEven = arguments.isOn(Self.even)
        let box = isEven ? wanted.resolvedEvenly(for: source) : wanted.resolved(for: source, down: roundsDown)
        switch mode(for: box, of: source) {
        case .fit where isEven:
            let isSmall = box.width >= source.width && box.height >= source.height
            let scaled = isSmall ? source : source.fitting(into: box)
            return Plan(scaled: scaled, cut: scaled, source: source)
        case .fit:
            let factor = wanted.fitFactor(for: source)
            let isLarger = !mayEnlarge && factor >= 1
            let fitted = roundsDown ? source.scaledDown(by: factor) : wanted.fitted(source)
            let scaled = isLarger ? source : fitted
            return Plan(scaled: scaled, cut: scaled, source: source)
        case .cover:
            let target = bounded(box, by: source)
            return Plan(scaled: covering(target, source), cut: target, source: source)
        case .crop, .auto:
            let target = mayEnlarge ? box : box.smaller(source)
            let scaled = covering(box, source)
            return Plan(scaled: scaled, cut: target.smaller(scaled), source: source)
        case .outside:
            let scaled = covering(box, source)
            return Plan(scaled: scaled, cut: scaled, source: source)
        case .fill:
            let target = boundsSides && !mayEnlarge ? box.smaller(source) : bounded(box, by: source)
            return Plan(scaled: target, cut: target, source: source)
        }
    }

    /// Whether the picture's size decides about more than its proportions: by a percentage of it, a factor, a point in it, or
    /// as a bound.
    package var isRelativeToSource: Bool {
        hasFactors || boundsWanted || placement.isAroundPoint || wanted?.isInPixels == false
    }

    package func resultSize(of size: PixelSize) -> PixelSize { plan(for: size).cut }

    var mayEnlarge: Bool { enlarging != .never }

    /// The mode for a picture, with `auto` decided.
    func mode(for box: PixelSize, of source: PixelSize) -> Mode {
        guard mode == .auto else { return mode }
        return (box.width >= box.height) == (source.width >= source.height) ? .crop : .fit
    }

    /// The smallest size with the picture's aspect that covers the box, or the picture's own.
    private func covering(_ box: PixelSize, _ source: PixelSize) -> PixelSize {
        guard mayEnlarge || Self.factor(max, box, source) < 1 else { return source }
        return source.covering(box)
    }

    /// Shrinks the box, with its aspect ratio, until it does not exceed the source.
    private func bounded(_ box: PixelSize, by source: PixelSize) -> PixelSize {
        guard !mayEnlarge else { return box }
        let factor = min(1, Self.factor(min, source, box))
        return factor == 1 ? box : box.scaled(by: factor)
    }

    private static func factor(
        _ choose: (Double, Double) -> Double, _ target: PixelSize, _ source: PixelSize
    ) -> Double {
        choose(
            Double(target.width) / Double(source.width), Double(target.height) / Double(source.height))
    }

    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let plan = plan(for: image.size, first: context.source)
        try context.check(plan.scaled)
        let scaled =
            try context.isLinear
            ? image.resizedInLinearLight(to: plan.scaled) : image.resized(to: plan.scaled)
        return try cut(scaled, plan, in: &context)
    }

    /// Cuts a picture of `plan.scaled`.
    func cut(
        _ image: borrowing VipsImage, _ plan: Plan, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        context.density = plan.density
        return try placement.cut(
            image, to: plan.cut, of: plan.source, density: plan.density, in: &context)
    }
}
