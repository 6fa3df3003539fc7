// SPDX-License-Identifier: Apache-2.0

/// `flip:h` — mirrors.
package struct Flip: ImageTransforming {
    package static let name = "flip"
    package static let summary = "Mirrors from left to right, upside down, or both."
    package static let parameters = [direction]

    private static let direction = TransformParameter(
        "direction", .word(["h", "v", "hv"]), .required, "h from left to right, v upside down, hv both.")

    /// The direction of mirroring.
    private enum Direction: String {
        case h, v, hv
    }

    package var cost: PixelCost { PixelCost(work: 0.1, memory: 4) }
    package static let toleratesIntermediate = true

    package let arguments: TransformArguments
    private let direction: Direction

    package init(_ arguments: TransformArguments) throws(TransformError) {
        self.arguments = arguments
        direction = arguments.choice(Self.direction) ?? .h
    }

    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        switch direction {
        case .h: try image.flipped(vertically: false)
        case .v: try image.inMemory().flipped(vertically: true)
        case .hv: try image.inMemory().turned(byQuarters: 2)
        }
    }
}
