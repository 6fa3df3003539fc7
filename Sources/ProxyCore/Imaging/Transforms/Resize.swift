// SPDX-License-Identifier: Apache-2.0

/// `resize:300x200:cover` — fits inside, covers and cuts, or stretches.
package struct Resize: ImageTransforming {
    package static let name = "resize"
    package static let summary = "Fits inside a size, covers it and cuts the rest, or stretches to it."
    package static let parameters = [size, mode, Gravity.parameter, enlarge, Gravity.focalX, Gravity.focalY]

    private static let size = TransformParameter(
        "size", .size, .required, isScaled: true, "The wanted size: WxH, Wx or xH.")
    private static let mode = TransformParameter(
        "mode", .word(["fit", "cover", "fill"]), .value(.word("fit")),
        "fit stays inside, cover fills and cuts, fill stretches.")
    private static let enlarge = TransformParameter.flag(
        "enlarge", "Whether the result may be larger than the source; if not, it keeps the asked-for aspect.")

    /// How the picture is fitted to the requested size.
    enum Mode: String {
        case fit, cover, fill
    }

    package let arguments: TransformArguments
    private let wanted: SizeRequest?
    private let mode: Mode
    private let gravity: Gravity
    private let mayEnlarge: Bool

    package init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        wanted = arguments.size(Self.size)
        mode = arguments.choice(Self.mode) ?? .fit
        gravity = try Gravity.read(from: arguments)
        mayEnlarge = arguments.isOn(Self.enlarge)
        if mode != .cover, case .word(let word)? = arguments.given[Gravity.parameter.name], word != "center" {
            let isDefault = arguments.given[Self.mode.name] == nil
            let hint = isDefault ? ", the default; only with cover" : "; only with cover"
            throw arguments.error(.conflict(with: "mode=\(mode.rawValue)\(hint)"), Gravity.parameter)
        }
    }

    /// The two steps of a resize.
    package struct Plan: Equatable {
        /// The size that the picture is resampled to.
        package let scaled: PixelSize
        /// The size that is then cut out of it.
        let cut: PixelSize
    }

    /// Decides the steps for a picture of `source`.
    package func plan(for source: PixelSize) -> Plan {
        let box = wanted?.resolved(for: source) ?? source
        switch mode {
        case .fit:
            let factor = wanted?.fitFactor(for: source) ?? 1
            let scaled = source.scaled(by: mayEnlarge ? factor : min(factor, 1))
            return Plan(scaled: scaled, cut: scaled)
        case .cover:
            let target = bounded(box, by: source)
            let rough = source.scaled(by: Self.factor(max, target, source))
            // Rounding may leave one pixel less than the target on the side that is not cut.
            let scaled = PixelSize(max(rough.width, target.width), max(rough.height, target.height))
            return Plan(scaled: scaled, cut: target)
        case .fill:
            let target = bounded(box, by: source)
            return Plan(scaled: target, cut: target)
        }
    }

    package func resultSize(of size: PixelSize) -> PixelSize { plan(for: size).cut }

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
        let plan = plan(for: image.size)
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
        try gravity.cut(image, to: plan.cut, in: &context)
    }
}
