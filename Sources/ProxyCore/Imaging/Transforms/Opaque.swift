// SPDX-License-Identifier: Apache-2.0

/// `opaque` — drops transparency.
struct Opaque: ImageTransforming {
    static let name = "opaque"
    static let summary = "Drops the transparency, so that the colours under it show."
    static let parameters: [TransformParameter] = []

    let arguments: TransformArguments

    func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        image.hasAlpha ? try image.colorBands() : image
    }
}
