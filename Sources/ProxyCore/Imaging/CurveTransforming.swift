// SPDX-License-Identifier: Apache-2.0

/// An operation that changes each level of the colours by one curve.
protocol CurveTransforming: ImageTransforming {
    /// What becomes of each level.
    var curve: ToneCurve { get }
}

extension CurveTransforming {
    /// Applies the curve to all colour bands.
    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        curve == .identity ? image : try image.toned(by: curve)
    }
}

/// An operation that mixes the encoded colours of each pixel linearly.
protocol MatrixTransforming: ImageTransforming {
    /// The weights.
    var matrix: ColorMatrix { get }
    /// Whether grey comes out as grey, so that a grey picture may stay as it is.
    static var keepsGrey: Bool { get }
}

extension MatrixTransforming {
    static var keepsGrey: Bool { true }

    /// Applies the matrix to the colours.
    func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        if image.isGrey, Self.keepsGrey { return image }
        return try image.inColor().recombined(by: matrix)
    }
}
