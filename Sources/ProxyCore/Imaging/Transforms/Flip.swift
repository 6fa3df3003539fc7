// SPDX-License-Identifier: Apache-2.0

/// `flip:h` — mirrors.
struct Flip: ImageTransforming {
    static let name = "flip"
    static let summary = "Mirrors from left to right, upside down, or both."
    static let parameters = [direction]

    private static let direction = TransformParameter(
        "direction", .word(["h", "v", "hv"]), .required, "h from left to right, v upside down, hv both.")

    /// The direction of mirroring.
    private enum Direction: String {
        case h, v, hv
    }

    var cost: PixelCost { PixelCost(work: 0.1, memory: 4) }
    static let toleratesIntermediate = true

    let arguments: TransformArguments

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        switch arguments.choice(Self.direction) ?? Direction.h {
        case .h: try image.flipped(vertically: false)
        case .v: try image.inMemory().flipped(vertically: true)
        case .hv: try image.inMemory().turned(byQuarters: 2)
        }
    }
}
