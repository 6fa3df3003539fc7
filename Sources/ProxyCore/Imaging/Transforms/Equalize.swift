// SPDX-License-Identifier: Apache-2.0

/// `equalize` — spreads the levels.
struct Equalize: ImageTransforming {
    static let name = "equalize"
    static let summary =
        "Spreads the levels of each channel, so that all of them are about as frequent."
    static let parameters: [TransformParameter] = []

    var cost: PixelCost { PixelCost(work: 2.2, memory: 4) }

    let arguments: TransformArguments

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        try image.inMemory().onColors { colors throws(ImagingError) in try colors.equalized() }
    }
}
