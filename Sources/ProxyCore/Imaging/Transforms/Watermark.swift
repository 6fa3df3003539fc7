// SPDX-License-Identifier: Apache-2.0

/// `watermark:logo:southeast:10:10` — draws a configured image over the picture.
package struct Watermark: ImageTransforming {
    package static let name = "watermark"
    package static let summary = "Lays a configured image over the picture."
    package static let parameters = [
        image, Gravity.placement(otherwise: "southeast"), OverlayPlacement.x, OverlayPlacement.y, scale,
        opacity, tile, gapX, gapY,
        width, height,
    ]

    private static let image = TransformParameter(
        "name", .name, .required, "The image's name in the configuration.")
    private static let scale = TransformParameter(
        "scale", .number(0...10), .absent,
        "Its size: it fits inside this share of the picture's sides; its own size when absent.")
    private static let opacity = TransformParameter(
        "opacity", .number(0...1), .value(.number(1)), "Multiplies its alpha.")
    private static let tile = TransformParameter(
        "tile", .word(["0", "1", "x", "y", "spread", "spreadx", "spready"]), .value(.word("0")),
        "Whether it is repeated: 1 all over the picture, x in a row, y in a column; spread, spreadx and spready only as "
            + "often as it fits as a whole, evenly from edge to edge, but a second time if less than two fit."
    )
    private static let gapX = gap("gapx", "beside", "width")
    private static let gapY = gap("gapy", "below", "height")
    private static let width = share("width")
    private static let height = share("height")

    private static func gap(_ name: String, _ place: String, _ side: String) -> TransformParameter {
        TransformParameter(
            name, .length(0...100_000), .value(.length(.pixels(FixedNumber(0)))), isScaled: true,
            "The gap \(place) each one that is repeated; a percentage is of the picture's \(side).")
    }

    private static func share(_ side: String) -> TransformParameter {
        TransformParameter(
            side, .number(FixedNumber(thousandths: 1)...FixedNumber(10)), .absent,
            "Its largest \(side) as a share of the picture's, in place of scale.")
    }

    package static let followsDensity = true
    package var cost: PixelCost { PixelCost(work: 2, memory: 8) }
    package static let toleratesIntermediate = true

    package let arguments: TransformArguments
    /// The image's name in the configuration.
    let imageName: String
    private let share: Double?
    private let strength: Double
    private let stamp: OverlayPlacement

    package init(arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        imageName = arguments.text(Self.image) ?? ""
        share = arguments.number(Self.scale)
        strength = arguments.number(Self.opacity) ?? 1
        stamp = OverlayPlacement(arguments)
        let shares = [Self.width, Self.height].filter { arguments.given[$0.name] != nil }
        if share != nil, let other = shares.first { throw arguments.error(.conflict(with: "scale"), other) }
    }

    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let canvas = image.size
        let ready = try context.once { () throws(ImagingError) in
            let mark = try sized(context.overlay(named: imageName), for: canvas)
            return try held(strength == 1 ? mark.duplicate() : mark.faded(by: strength), for: canvas)
        }
        guard case .word(let tile) = arguments[Self.tile], tile != "0" else {
            return try image.stamped(with: ready, at: stamp.place(of: ready.size, on: canvas))
        }
        if tile.hasPrefix("spread") { return try spread(ready, tile, over: image) }
        let unit = try withGap(ready, on: canvas)
        let place = stamp.place(of: unit.size, on: canvas)
        let tiledSize = PixelSize(
            tile == "y" ? unit.size.width : canvas.width, tile == "x" ? unit.size.height : canvas.height)
        let start = (left: tile == "y" ? 0 : place.left, top: tile == "x" ? 0 : place.top)
        let all = try unit.surrounded(on: tiledSize, left: start.left, top: start.top, by: .tiled)
        return try image.stamped(
            with: all, at: (tile == "y" ? place.left : 0, tile == "x" ? place.top : 0))
    }

    /// Beyond so many images they are spread more thinly: so many in a row or column.
    private static let (mostMarks, mostOfRow) = (100, 6)

    /// The distance of two images where less than two fit.
    private static let leastGap = 10

    /// How many images are spread along a side: as many as fit, or a second that the edge cuts.
    private static func count(_ mark: Int, on side: Int) -> Int {
        side < 2 * mark ? (side + mark - 1) / mark : side / mark
    }

    private static func gap(_ count: Int, _ mark: Int, on side: Int) -> Int {
        guard count > 1 else { return 0 }
        return count * mark > side ? leastGap : (side - count * mark) / (count - 1)
    }

    /// Lays as many whole images over the picture as fit; one alone lies where it would without repetition.
    private func spread(
        _ mark: borrowing VipsImage, _ tile: String, over image: borrowing VipsImage
    ) throws(ImagingError) -> VipsImage {
        let canvas = image.size
        var columns = tile == "spready" ? 1 : Self.count(mark.size.width, on: canvas.width)
        var rows = tile == "spreadx" ? 1 : Self.count(mark.size.height, on: canvas.height)
        if columns * rows > Self.mostMarks {
            (columns, rows) = (min(Self.mostOfRow, columns), min(Self.mostOfRow, rows))
        }
        let gapX = Self.gap(columns, mark.size.width, on: canvas.width)
        let gapY = Self.gap(rows, mark.size.height, on: canvas.height)
        let size = PixelSize(mark.size.width + gapX, mark.size.height + gapY)
        let unit = try held(
            mark.inColor().placed(on: size, left: 0, top: 0, over: .transparent), for: canvas)
        let tiledSize = PixelSize(columns * size.width - gapX, rows * size.height - gapY)
        let place = stamp.place(of: tiledSize, on: canvas)
        return try image.stamped(
            with: held(unit.surrounded(on: tiledSize, left: 0, top: 0, by: .tiled), for: canvas),
            at: (columns > 1 ? 0 : place.left, rows > 1 ? 0 : place.top))
    }

    /// What is repeated: the image and the gap, half of it on each side.
    private func withGap(
        _ mark: borrowing VipsImage, on canvas: PixelSize
    ) throws(ImagingError) -> VipsImage {
        let x = arguments.length(Self.gapX)?.roundedPixels(of: canvas.width) ?? 0
        let y = arguments.length(Self.gapY)?.roundedPixels(of: canvas.height) ?? 0
        guard x > 0 || y > 0 else { return try mark.duplicate() }
        let size = try bounded(PixelSize(mark.size.width + x, mark.size.height + y))
        return try held(
            mark.inColor().placed(on: size, left: x / 2, top: y / 2, over: .transparent), for: canvas)
    }

    /// Computes what is used more than once, unless it takes more than half of the picture's memory: of that the visible part is
    /// computed where it is drawn, and no mark takes more memory than the picture itself.
    private func held(
        _ mark: consuming VipsImage, for canvas: PixelSize
    ) throws(ImagingError) -> VipsImage {
        mark.size.area * 2 <= canvas.area ? try mark.computed() : mark
    }

    /// The longest side of an image that libvips can express, in pixels (VIPS_MAX_COORD).
    private static let longestSide = 10_000_000

    private func bounded(_ size: PixelSize) throws(ImagingError) -> PixelSize {
        guard max(size.width, size.height) <= Self.longestSide else {
            throw .tooManyPixels("the watermark \(imageName) would be \(size)")
        }
        return size
    }

    private func sized(
        _ mark: borrowing VipsImage, for canvas: PixelSize
    ) throws(ImagingError) -> VipsImage {
        let (width, height) = (share ?? arguments.number(Self.width), share ?? arguments.number(Self.height))
        let factors = [
            width.map { Double(canvas.width) * $0 / Double(mark.size.width) },
            height.map { Double(canvas.height) * $0 / Double(mark.size.height) },
        ]
        guard let factor = factors.compactMap({ $0 }).min() else { return try mark.duplicate() }
        return try mark.resized(to: bounded(mark.size.scaled(by: factor)))
    }
}
