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
        let ready = try image.inMemory()
        guard ready.hasAlpha else { return try ready.equalized() }
        return try ready.colorBands().equalized().joined(with: ready.band(ready.bands - 1))
    }
}
