// SPDX-License-Identifier: Apache-2.0

import Glibc

/// `rotate:90` — rotates clockwise by any angle.
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

    var cost: PixelCost { PixelCost(work: 2.4, memory: 8) }
    static let toleratesIntermediate = true
    var mayAddAlpha: Bool { true }

    let arguments: TransformArguments
    private var degrees: Double { arguments.number(Self.angle) ?? 0 }
    private var fits: Bool { arguments.isOn(Self.fit) }
    private var background: PixelColor { arguments.color(Self.color) ?? .transparent }

    func resultSize(of size: PixelSize) -> PixelSize { fits ? bounds(of: size) : size }

    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let quarters = degrees / Self.quarter
        guard quarters == quarters.rounded() else { return try turnedFreely(image, in: context) }
        let canvas = image.size
        let turned = try turn(image, byQuarters: Int(quarters))
        guard !fits, turned.size != canvas else { return turned }
        let place = Gravity.compass(0.5, 0.5).placement(of: turned.size, on: canvas)
        return try turned.placed(on: canvas, left: place.left, top: place.top, over: background)
    }

    private func turn(
        _ image: borrowing VipsImage, byQuarters quarters: Int
    ) throws(ImagingError) -> VipsImage {
        let count = ((quarters % Self.quartersPerTurn) + Self.quartersPerTurn) % Self.quartersPerTurn
        return try count == 0 ? image.duplicate() : image.inMemory().turned(byQuarters: count)
    }

    /// Rotates, and fills the uncovered corners with the background; transparent parts of the picture stay
    /// transparent.
    private func turnedFreely(
        _ image: borrowing VipsImage, in context: TransformContext
    ) throws(ImagingError) -> VipsImage {
        let canvas = fits ? bounds(of: image.size) : image.size
        try context.check(canvas)
        let turned = try image.inColor().withAlpha().inMemory().rotated(byDegrees: degrees, on: canvas)
        guard background.alpha > 0 else { return turned }
        if !image.hasAlpha, background.isOpaque { return try turned.flattened(onto: background) }
        let around = try context.once { () throws(ImagingError) in
            let cover = try image.uniform(.white).rotated(byDegrees: degrees, on: canvas)
            let rest = try cover.band(cover.bands - 1).lookedUp(in: [ToneCurve { 1 - $0 }])
            return try rest.uniform(background).masked(by: rest).computed()
        }
        return try around.completed(by: turned)
    }

    /// The smallest canvas that contains a rotated picture.
    private func bounds(of size: PixelSize) -> PixelSize {
        let turn = degrees * Double.pi / 180
        let width = Double(size.width)
        let height = Double(size.height)
        return PixelSize(
            rounding: width * abs(cos(turn)) + height * abs(sin(turn)),
            by: width * abs(sin(turn)) + height * abs(cos(turn)))
    }
}
