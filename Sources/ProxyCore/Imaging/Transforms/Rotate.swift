// SPDX-License-Identifier: Apache-2.0

import Glibc

/// `rotate:90` — turns clockwise by any angle.
struct Rotate: ImageTransforming {
    static let name = "rotate"
    static let summary = "Turns clockwise by any angle; without fit the canvas keeps its size."
    static let parameters = [angle, fit, color]

    private static let angle = TransformParameter(
        "angle", .number(-360...360), .required, "Degrees clockwise.")
    private static let fit = TransformParameter.flag(
        "fit", isOn: true, "Whether the canvas grows and shrinks so that it just holds the turned picture.")
    private static let color = TransformParameter(
        "color", .color, .value(.color(.transparent)), "What shows where the picture is not.")

    private static let quarter = 90.0
    private static let quartersPerTurn = 4

    let arguments: TransformArguments
    private let degrees: Double
    private let fits: Bool
    private let background: PixelColor

    init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        degrees = arguments.number(Self.angle) ?? 0
        fits = arguments.isOn(Self.fit)
        background = arguments.color(Self.color) ?? .transparent
    }

    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let canvas = image.size
        let turned = try turn(image, in: context)
        guard !fits, turned.size != canvas else { return try covered(turned) }
        let place = Gravity.compass(0.5, 0.5).placement(of: turned.size, on: canvas)
        return try covered(
            turned.withAlpha().placed(on: canvas, left: place.left, top: place.top, over: .transparent))
    }

    private func turn(
        _ image: borrowing VipsImage, in context: TransformContext
    ) throws(ImagingError) -> VipsImage {
        let quarters = degrees / Self.quarter
        guard quarters == quarters.rounded() else {
            let canvas = fits ? bounds(of: image.size) : image.size
            try context.check(canvas)
            return try image.inColor().withAlpha().inMemory().rotated(byDegrees: degrees, on: canvas)
        }
        let count = ((Int(quarters) % Self.quartersPerTurn) + Self.quartersPerTurn) % Self.quartersPerTurn
        return try count == 0 ? image.duplicate() : image.inMemory().turned(byQuarters: count)
    }

    /// The smallest canvas that holds a picture when it is turned.
    private func bounds(of size: PixelSize) -> PixelSize {
        let turn = degrees * Double.pi / 180
        let width = Double(size.width)
        let height = Double(size.height)
        return PixelSize(
            rounding: width * abs(cos(turn)) + height * abs(sin(turn)),
            by: width * abs(sin(turn)) + height * abs(cos(turn)))
    }

    /// Puts the background below what has become transparent.
    private func covered(_ image: borrowing VipsImage) throws(ImagingError) -> VipsImage {
        guard background.alpha > 0, image.hasAlpha else { return try image.duplicate() }
        if background.isOpaque { return try image.inColor().flattened(onto: background) }
        return try image.inColor().uniform(background).covered(by: image.inColor())
    }
}
