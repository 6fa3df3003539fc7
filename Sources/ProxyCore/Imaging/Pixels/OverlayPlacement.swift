// SPDX-License-Identifier: Apache-2.0

/// The position of an overlay on a picture: by gravity, then moved away from the edge that gravity names.
struct OverlayPlacement {
    private let gravity: Gravity
    private let horizontal: Length?
    private let vertical: Length?

    private static let range = -100_000...100_000
    private static let zero = TransformValue.length(.pixels(0))
    /// The declaration of `x`.
    static let x = TransformParameter(
        "x", .length(range), .value(zero), isScaled: true,
        "How far it is moved inwards from the left or right edge; to the right where gravity names neither.")
    /// The declaration of `y`.
    static let y = TransformParameter(
        "y", .length(range), .value(zero), isScaled: true,
        "How far it is moved inwards from the top or bottom edge; down where gravity names neither.")

    /// Reads the three parameters together.
    init(_ arguments: TransformArguments) {
        gravity = Gravity.place(from: arguments)
        horizontal = arguments.length(Self.x)
        vertical = arguments.length(Self.y)
    }

    /// The position of the top left corner of an overlay of `size`.
    func place(of size: PixelSize, on canvas: PixelSize) -> (left: Int, top: Int) {
        let place = gravity.placement(of: size, on: canvas)
        let (x, y) = gravity.inwards(
            horizontal?.roundedPixels(of: canvas.width) ?? 0, vertical?.roundedPixels(of: canvas.height) ?? 0)
        return (place.left + x, place.top + y)
    }
}
