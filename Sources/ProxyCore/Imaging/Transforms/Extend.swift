// SPDX-License-Identifier: Apache-2.0

/// `extend:800x600:center` — places the picture on a canvas.
package struct Extend: ImageTransforming {
    package static let name = "extend"
    package static let summary = "Puts the picture onto a canvas of a size; what does not fit on it is cut."
    package static let parameters = [
        size, gravity, color, fill, Gravity.focalX, Gravity.focalY, OverlayPlacement.x, OverlayPlacement.y,
        grow, ratio, enlarge,
        swap, bound,
    ]

    private static let size = TransformParameter(
        "size", .size, .required, isScaled: true,
        "The canvas' size; a side left out keeps the picture's aspect.")
    private static let gravity = Gravity.placement(
        otherwise: "center", more: ["focal", "share"],
        "focal puts the picture's middle onto the point fx, fy of the canvas, share leaves the share fx of the free width on the left "
            + "and fy of the free height at the top.")
    private static let grow = TransformParameter.flag(
        "grow", "Whether the canvas grows to the picture, so that nothing is cut.")
    private static let ratio = TransformParameter.flag(
        "ratio", "Whether size is an aspect: the canvas is the smallest of it that holds the picture.")
    private static let enlarge = TransformParameter.flag(
        "enlarge", isOn: true,
        "Whether a picture that is smaller than both sides is put onto the canvas; else it stays as it is.")
    private static let swap = TransformParameter.flag(
        "swap",
        "Whether width and height are exchanged if one of size and picture is landscape and the other portrait."
    )
    private static let bound = TransformParameter(
        "bound", .word(["none", "source"]), .value(.word("none")),
        "What the canvas does not exceed: source for the picture as it was before all operations.")
    private static let color = TransformParameter(
        "color", .color, .absent,
        "The canvas' colour; when absent white, or transparent where the picture has transparency. Transparent parts of the "
            + "picture stay so: background fills them.")
    private static let fill = TransformParameter(
        "fill", .word(["color", "blur", "mirror", "edge", "mean", "squeeze"]), .value(.word("color")),
        "What fills the canvas: the colour, the picture itself blurred, its mirror images, its edge pixels, its mean colour "
            + "(of an animation that of the first frame), or (squeeze) the picture blurred and squeezed onto all of it."
    )

    /// The fill of the canvas.
    private enum Fill: String {
        case color, blur, mirror, edge, mean, squeeze
    }

    /// The longer side at which a background is blurred, and the blur; its low resolution is invisible
    /// afterwards.
    private static let blurredSide = 128
    private static let blurredSigma = 5.0

    /// The deviation of the blur that a squeezed picture gets, in its own pixels.
    private static let squeezedSigma = 27.0

    package static let followsDensity = true
    package var cost: PixelCost { PixelCost(work: 0.5, memory: 4) }
    package var mayAddAlpha: Bool { background?.isOpaque == false }

    package let arguments: TransformArguments
    private let wanted: SizeRequest?
    private let stamp: OverlayPlacement
    private let share: (x: Double, y: Double)?
    private let background: PixelColor?
    private let filling: Fill

    package init(arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        wanted = arguments.size(Self.size)
        stamp = OverlayPlacement(arguments)
        share = try Self.share(of: arguments)
        background = arguments.color(Self.color)
        filling = arguments.choice(Self.fill) ?? .color
        if filling != .color, arguments.given[Self.color.name] != nil {
            throw arguments.error(.conflict(with: "fill=\(filling.rawValue)"), Self.color)
        }
    }

    /// fx and fy of the gravities that have them.
    private static func share(
        of arguments: TransformArguments
    ) throws(TransformError) -> (x: Double, y: Double)? {
        let (x, y) = (arguments.number(Gravity.focalX), arguments.number(Gravity.focalY))
        if [.word("focal"), .word("share")].contains(arguments[gravity]) { return (x ?? 0.5, y ?? 0.5) }
        for (value, parameter) in [(x, Gravity.focalX), (y, Gravity.focalY)] where value != nil {
            throw arguments.error(.conflict(with: "gravity other than focal and share"), parameter)
        }
        return nil
    }

    /// The canvas for a picture of `size`.
    package func canvas(for size: PixelSize) -> PixelSize {
        guard let given = wanted else { return size }
        let wanted = arguments.isOn(Self.swap) ? given.swapped(for: size) : given
        let box = wanted.resolved(for: size)
        if !arguments.isOn(Self.enlarge), box.width > size.width, box.height > size.height { return size }
        if arguments.isOn(Self.ratio) { return Self.canvas(of: wanted, around: size) }
        guard arguments.isOn(Self.grow) else { return box }
        return PixelSize(max(box.width, size.width), max(box.height, size.height))
    }

    /// The smallest canvas of an aspect that holds the picture.
    private static func canvas(of wanted: SizeRequest, around size: PixelSize) -> PixelSize {
        guard let width = wanted.width?.pixels(of: size.width),
            let height = wanted.height?.pixels(of: size.height)
        else { return size }
        let aspect = width / height
        return Double(size.width) > aspect * Double(size.height)
            ? PixelSize(rounding: Double(size.width), by: Double(size.width) / aspect)
            : PixelSize(rounding: Double(size.height) * aspect, by: Double(size.height))
    }

    /// The position of the picture on the canvas: inside of it, if it fits.
    private func place(of size: PixelSize, on canvas: PixelSize) -> (left: Int, top: Int) {
        let place: (left: Int, top: Int)
        switch (share, arguments[Self.gravity]) {
        case (let share?, .word("share")):
            place = (
                Int((Double(canvas.width - size.width) * share.x + 0.5).rounded(.down)),
                Int((Double(canvas.height - size.height) * share.y + 0.5).rounded(.down))
            )
        case (let share?, _):
            place = (
                Int((Double(canvas.width) * share.x).rounded()) - size.width / 2,
                Int((Double(canvas.height) * share.y).rounded()) - size.height / 2
            )
        default: place = stamp.place(of: size, on: canvas)
        }
        return (
            Self.clamped(place.left, to: canvas.width - size.width),
            Self.clamped(place.top, to: canvas.height - size.height)
        )
    }

    private static func clamped(_ start: Int, to spare: Int) -> Int {
        min(max(start, min(0, spare)), max(0, spare))
    }

    package func resultSize(of size: PixelSize) -> PixelSize { canvas(for: size) }

    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let size = image.size
        let wanted = canvas(for: size)
        let isBounded = arguments[Self.bound] == .word("source")
        let canvas = isBounded ? context.source.map(wanted.smaller) ?? wanted : wanted
        try context.check(canvas)
        guard canvas != size else { return image }
        let place = place(of: size, on: canvas)
        switch filling {
        case .color:
            let color = background ?? (image.hasAlpha ? .transparent : .white)
            return try image.placed(on: canvas, left: place.left, top: place.top, over: color)
        case .mean:
            let ready = try image.inMemory()
            let color = try ready.meanColor(in: &context)
            return try ready.inColor().placed(on: canvas, left: place.left, top: place.top, over: color)
        case .mirror:
            return try image.inMemory().surrounded(
                on: canvas, left: place.left, top: place.top, by: .mirrored)
        case .edge:
            return try image.inMemory().surrounded(
                on: canvas, left: place.left, top: place.top, by: .continued)
        case .blur, .squeeze:
            return try onItself(image.inMemory(), canvas, place)
        }
    }

    private func onItself(
        _ image: borrowing VipsImage, _ canvas: PixelSize, _ place: (left: Int, top: Int)
    ) throws(ImagingError) -> VipsImage {
        let below = try filling == .squeeze ? squeezed(image, canvas) : blurred(image, canvas)
        // Squeezed it is seen beside the picture alone, not through it.
        guard image.hasAlpha, filling != .squeeze else {
            return try below.inserting(image, left: place.left, top: place.top)
        }
        let above = try image.inColor().placed(
            on: canvas, left: place.left, top: place.top, over: .transparent)
        return try below.inColor().covered(by: above)
    }

    /// The picture blurred, with both sides then made those of the canvas.
    private func squeezed(
        _ image: borrowing VipsImage, _ canvas: PixelSize
    ) throws(ImagingError) -> VipsImage {
        let longer = Double(max(image.size.width, image.size.height))
        let factor = min(1, Double(Self.blurredSide) / longer)
        return try image.resized(to: image.size.scaled(by: factor)).softened(
            sigma: Self.squeezedSigma * factor
        )
        .resized(to: canvas)
    }

    /// The picture scaled to cover the canvas, and blurred.
    private func blurred(
        _ image: borrowing VipsImage, _ canvas: PixelSize
    ) throws(ImagingError) -> VipsImage {
        let longer = Double(max(canvas.width, canvas.height))
        let small = canvas.scaled(by: min(1, Double(Self.blurredSide) / longer))
        let size = image.size
        let factor = max(
            Double(small.width) / Double(size.width), Double(small.height) / Double(size.height))
        let rough = size.scaled(by: factor)
        let cover = PixelSize(max(rough.width, small.width), max(rough.height, small.height))
        let middle = PixelRectangle(
            left: (cover.width - small.width) / 2, top: (cover.height - small.height) / 2, size: small)
        return try image.resized(to: cover).cropped(to: middle).softened(sigma: Self.blurredSigma)
            .resized(to: canvas)
    }
}
