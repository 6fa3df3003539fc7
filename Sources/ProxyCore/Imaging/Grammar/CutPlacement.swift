// SPDX-License-Identifier: Apache-2.0

/// Where a rectangle is cut out of a picture: by gravity, or around a point of the picture before the operation, and
/// moved inwards from there.
struct CutPlacement: Sendable {
    let gravity: Gravity
    private let horizontal: Length?
    private let vertical: Length?
    private let point: (x: Double, y: Double)?

    /// Whether it is a point in the picture before the operation.
    var isAroundPoint: Bool { point != nil }

    private static let offsets = -100_000...100_000
    /// The declaration of `x` for an operation that has a gravity only.
    static let x = TransformParameter(
        "x", .length(offsets), .absent, isScaled: true,
        "How far the cut is moved inwards from the edge that gravity names, to the right where it names neither; a percentage is of the width."
    )
    /// The declaration of `y` likewise.
    static let y = TransformParameter(
        "y", .length(offsets), .absent, isScaled: true,
        "How far the cut is moved inwards from the edge that gravity names, down where it names neither; a percentage is of the height."
    )
    /// The declaration of `px`.
    static let px = TransformParameter(
        "px", .number(0...100_000), .absent,
        "Horizontal focal point in pixels of the picture before the operation, with gravity=focal in place of fx."
    )
    /// The declaration of `py`.
    static let py = TransformParameter(
        "py", .number(0...100_000), .absent,
        "Vertical focal point in pixels of the picture before the operation, with gravity=focal in place of fy."
    )

    /// Reads gravity, focal point and offsets together.
    init(_ arguments: TransformArguments) throws(TransformError) {
        let gravity = try Gravity.read(from: arguments)
        let (x, y) = (arguments.number(Self.px), arguments.number(Self.py))
        if x != nil || y != nil {
            guard case .focal = gravity, let x, let y else {
                throw arguments.error(
                    .malformed(expected: "both px and py, with gravity=focal"), x == nil ? Self.py : Self.px)
            }
            point = (x, y)
        } else {
            point = nil
        }
        self.gravity = gravity
        horizontal = arguments.length(Self.x)
        vertical = arguments.length(Self.y)
        if gravity.readsPixels, horizontal != nil || vertical != nil {
            throw arguments.error(.conflict(with: "x and y"), Gravity.parameter)
        }
    }

    /// Cuts `wanted`, which lies within the image; the first frame decides for all.
    /// - Parameters:
    ///   - source: the size of the picture before the operation, which `point` means.
    ///   - density: what offsets in pixels are multiplied by.
    func cut(
        _ image: borrowing VipsImage, to wanted: PixelSize, of source: PixelSize, density: Double = 1,
        in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        guard wanted != image.size else { return try image.duplicate() }
        let gravity =
            point.map {
                Gravity.focal(
                    min(1, $0.x / Double(source.width)), min(1, $0.y / Double(source.height)))
            } ?? self.gravity
        guard horizontal != nil || vertical != nil,
            let place = gravity.rectangle(of: wanted, in: image.size)
        else { return try gravity.cut(image, to: wanted, in: &context) }
        let (x, y) = gravity.inwards(
            horizontal?.scaled(by: density).roundedPixels(of: image.size.width) ?? 0,
            vertical?.scaled(by: density).roundedPixels(of: image.size.height) ?? 0)
        let moved = PixelRectangle(
            left: min(max(0, place.left + x), image.size.width - wanted.width),
            top: min(max(0, place.top + y), image.size.height - wanted.height), size: wanted)
        return try image.cropped(to: moved)
    }
}
