// SPDX-License-Identifier: Apache-2.0

/// A rectangle of pixels within an image, never empty.
struct PixelRectangle: Sendable, Hashable {
    let left: Int
    let top: Int
    let size: PixelSize

    /// Returns the part of the rectangle within an image of `bounds`; nil if it is empty.
    func clamped(to bounds: PixelSize) -> PixelRectangle? {
        let right = min(left + size.width, bounds.width)
        let bottom = min(top + size.height, bounds.height)
        let newLeft = max(left, 0)
        let newTop = max(top, 0)
        guard right > newLeft, bottom > newTop else { return nil }
        return PixelRectangle(left: newLeft, top: newTop, size: PixelSize(right - newLeft, bottom - newTop))
    }

    /// Returns the smallest rectangle that contains both.
    func union(_ other: PixelRectangle) -> PixelRectangle {
        let newLeft = min(left, other.left)
        let newTop = min(top, other.top)
        let right = max(left + size.width, other.left + other.size.width)
        let bottom = max(top + size.height, other.top + other.size.height)
        return PixelRectangle(left: newLeft, top: newTop, size: PixelSize(right - newLeft, bottom - newTop))
    }
}
