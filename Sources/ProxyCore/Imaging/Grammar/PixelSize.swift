// SPDX-License-Identifier: Apache-2.0

/// A width and a height in whole pixels, each at least 1.
package struct PixelSize: Sendable, Hashable {
    package let width: Int
    package let height: Int

    /// Creates a size from whole sides; a side below 1 becomes 1.
    package init(_ width: Int, _ height: Int) {
        self.width = max(1, width)
        self.height = max(1, height)
    }

    /// Rounds both sides half up.
    init(rounding width: Double, by height: Double) {
        self.init(Int((width + 0.5).rounded(.down)), Int((height + 0.5).rounded(.down)))
    }

    /// Width × height.
    package var area: Int { width * height }

    /// The pixels of that many frames, with how they come about: `1600x900 = 1440000 pixels`.
    package func pixels(frames: Int) -> String {
        "\(self)\(frames > 1 ? " x \(frames) frames" : "") = \(area * frames) pixels"
    }

    /// The size after a rotation by 90°.
    package var transposed: PixelSize { PixelSize(height, width) }

    /// Returns both sides × `factor`, rounded half up.
    package func scaled(by factor: Double) -> PixelSize {
        PixelSize(rounding: Double(width) * factor, by: Double(height) * factor)
    }

    /// Both sides × `factor`, rounded down, and at least 1.
    func scaledDown(by factor: Double) -> PixelSize {
        PixelSize(
            rounding: Double(width) * factor - Self.nearlyHalf, by: Double(height) * factor - Self.nearlyHalf)
    }

    /// The largest size of this aspect inside of `box`, the other side rounded half up.
    func fitting(into box: PixelSize) -> PixelSize {
        scaled(to: box, byWidth: box.width * height <= box.height * width)
    }

    /// The smallest size of this aspect that covers `box`, the other side rounded half up.
    func covering(_ box: PixelSize) -> PixelSize {
        scaled(to: box, byWidth: box.width * height > box.height * width)
    }

    /// Makes one side that of `box`; in whole numbers, since a division leaves less than a half now and then.
    func scaled(to box: PixelSize, byWidth: Bool) -> PixelSize {
        byWidth
            ? PixelSize(box.width, (2 * height * box.width + width) / (2 * width))
            : PixelSize((2 * width * box.height + height) / (2 * height), box.height)
    }

    /// What makes rounding to the nearest into rounding down, but for what a division leaves of a whole number.
    static let nearlyHalf = 0.5 - 1e-6
}

extension PixelSize: CustomStringConvertible {
    /// Width and height: `1600x900`.
    package var description: String { "\(width)x\(height)" }
}
