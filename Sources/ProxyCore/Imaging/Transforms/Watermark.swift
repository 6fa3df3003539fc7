// SPDX-License-Identifier: Apache-2.0

/// `watermark:logo:southeast:10:10` — draws a configured image over the picture.
package struct Watermark: ImageTransforming {
    package static let name = "watermark"
    package static let summary = "Lays a configured image over the picture."
    package static let parameters = [
        image, Gravity.placement(otherwise: "southeast"), Stamp.x, Stamp.y, scale, opacity, tile,
    ]

    private static let image = TransformParameter(
        "name", .name, .required, "The image's name in the configuration.")
    private static let scale = TransformParameter(
        "scale", .number(0...1), .absent,
        "Its size: it fits inside this share of the picture's sides; its own size when absent.")
    private static let opacity = TransformParameter(
        "opacity", .number(0...1), .value(.number(1)), "Multiplies its alpha.")
    private static let tile = TransformParameter.flag("tile", "Whether it is repeated all over the picture.")

    package let arguments: TransformArguments
    /// The image's name in the configuration.
    let imageName: String
    private let share: Double?
    private let strength: Double
    private let isTiled: Bool
    private let stamp: Stamp

    package init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        imageName = arguments.text(Self.image) ?? ""
        share = arguments.number(Self.scale)
        strength = arguments.number(Self.opacity) ?? 1
        isTiled = arguments.isOn(Self.tile)
        stamp = Stamp(arguments)
    }

    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let canvas = image.size
        let ready = try context.once { () throws(ImagingError) in
            let mark = try sized(context.overlay(named: imageName), for: canvas)
            return try (strength == 1 ? mark.duplicate() : mark.faded(by: strength)).computed()
        }
        let place = stamp.place(of: ready.size, on: canvas)
        guard isTiled else { return try image.stamped(with: ready, at: place) }
        let wall = try ready.surrounded(on: canvas, left: place.left, top: place.top, by: .tiled)
        return try image.stamped(with: wall, at: (0, 0))
    }

    private func sized(
        _ mark: borrowing VipsImage, for canvas: PixelSize
    ) throws(ImagingError) -> VipsImage {
        guard let share else { return try mark.duplicate() }
        let factor = min(
            Double(canvas.width) * share / Double(mark.size.width),
            Double(canvas.height) * share / Double(mark.size.height))
        return try mark.resized(to: mark.size.scaled(by: factor))
    }
}
