// SPDX-License-Identifier: Apache-2.0

import Glibc

/// `mask:circle` — cuts to a shape.
struct Mask: ImageTransforming {
    static let name = "mask"
    static let summary =
        "Cuts to a shape in the middle of the picture; what is outside becomes transparent."
    static let parameters = [shape, trim, color]

    private static let shape = TransformParameter(
        "shape", .word(Shape.allCases.map(\.rawValue)), .required,
        "circle and squircle are as wide as the shorter side, ellipse fills the picture, the others are as large as fits; "
            + "those with -180 stand on their point.")
    private static let trim = TransformParameter.flag(
        "trim", "Whether the picture is cut to the shape's sides.")
    private static let color = TransformParameter(
        "color", .color, .absent,
        "What is laid over the picture outside of the shape, in place of transparency.")

    /// The shape that stays visible.
    private enum Shape: String, CaseIterable {
        case circle, ellipse, squircle, triangle
        case triangleDown = "triangle-180"
        case pentagon
        case pentagonDown = "pentagon-180"
        case hexagon, square, star, heart
    }

    var cost: PixelCost { PixelCost(work: 2, memory: 4) }
    static let toleratesIntermediate = true
    var mayAddAlpha: Bool { true }

    let arguments: TransformArguments
    private var shape: Shape { arguments.choice(Self.shape) ?? .circle }

    func resultSize(of size: PixelSize) -> PixelSize { kept(of: size)?.size ?? size }

    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        let size = image.size
        let cover = try context.once { () throws(ImagingError) in
            try VipsImage.cover(outline(on: size).mask(on: size), size)
        }
        let masked = try cut(image, to: cover)
        guard let rectangle = kept(of: size) else { return masked }
        return try masked.cropped(to: rectangle)
    }

    private func cut(
        _ image: borrowing VipsImage, to cover: borrowing VipsImage
    ) throws(ImagingError) -> VipsImage {
        guard let color = arguments.color(Self.color) else { return try image.masked(by: cover) }
        let rest = try cover.lookedUp(in: [ToneCurve { 1 - $0 }])
        let all = try image.inColor().covered(by: image.uniform(color).masked(by: rest))
        return try image.hasAlpha ? all.duplicate() : all.colorBands()
    }

    /// The shape's sides; nil where nothing is cut off.
    private func kept(of size: PixelSize) -> PixelRectangle? {
        guard arguments.isOn(Self.trim), shape != .ellipse else { return nil }
        let shorter = Double(min(size.width, size.height))
        let box = polygon(on: size)?.box ?? (width: shorter, height: shorter)
        let kept = PixelSize(rounding: box.width, by: box.height).smaller(size)
        let left = Int((Double(size.width - kept.width) / 2).rounded())
        let top = Int((Double(size.height - kept.height) / 2).rounded())
        return PixelRectangle(
            left: min(left, size.width - kept.width), top: min(top, size.height - kept.height), size: kept)
    }

    private func outline(on size: PixelSize) -> any MaskShape {
        if let polygon = polygon(on: size) { return polygon }
        let half = Double(min(size.width, size.height)) / 2
        let isEllipse = shape == .ellipse
        return Superellipse(
            canvas: size, exponent: shape == .squircle ? 4 : 2,
            halfWidth: isEllipse ? Double(size.width) / 2 : half,
            halfHeight: isEllipse ? Double(size.height) / 2 : half)
    }

    /// The shape as a polygon; nil for a superellipse.
    private func polygon(on size: PixelSize) -> Polygon? {
        let points: [(x: Double, y: Double)]
        switch shape {
        case .circle, .ellipse, .squircle: return nil
        case .triangle: points = Self.corners(3)
        case .triangleDown: points = Self.corners(3, isUp: false)
        case .pentagon: points = Self.corners(5)
        case .pentagonDown: points = Self.corners(5, isUp: false)
        case .hexagon: points = Self.corners(6)
        case .square: points = Self.corners(4)
        case .star: points = Self.corners(10, inner: Self.innerRadius)
        case .heart: points = Self.heart
        }
        return Polygon(canvas: size, points: points)
    }

    /// The corners of a regular polygon; with an inner radius, every second one lies that far from the middle.
    private static func corners(
        _ count: Int, inner: Double = 1, isUp: Bool = true
    ) -> [(x: Double, y: Double)] {
        (0..<count).map { index in
            let angle = (isUp ? -0.5 : 0.5) * Double.pi + 2 * Double.pi * Double(index) / Double(count)
            let radius = index % 2 == 1 ? inner : 1
            return (radius * cos(angle), radius * sin(angle))
        }
    }

    /// Of a pentagram, whose radius is 1.
    private static let innerRadius = 0.382

    private static let heart: [(x: Double, y: Double)] = (0..<256).map { index in
        let turn = 2 * Double.pi * Double(index) / 256
        let x = 16 * pow(sin(turn), 3)
        let y = 13 * cos(turn) - 5 * cos(2 * turn) - 2 * cos(3 * turn) - cos(4 * turn)
        return (x, -y)
    }
}
