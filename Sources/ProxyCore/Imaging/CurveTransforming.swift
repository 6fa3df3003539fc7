// SPDX-License-Identifier: Apache-2.0

/// An operation that changes each level of the colours by one curve.
package protocol CurveTransforming: ImageTransforming {
    /// The new level of each level.
    var curve: ToneCurve { get }
}

extension CurveTransforming {
    /// Applies the curve to all colour bands.
    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        curve == .identity ? image : try image.toned(by: curve)
    }
}

/// An operation that mixes the encoded colours of each pixel linearly.
package protocol MatrixTransforming: ImageTransforming {
    /// The weights.
    var matrix: ColorMatrix { get }
    /// Whether grey stays grey, so that a grey picture need not become a colour picture.
    static var keepsGrey: Bool { get }
}

extension MatrixTransforming {
    package static var keepsGrey: Bool { true }

    /// Applies the matrix to the colours.
    package func apply(
        to image: consuming VipsImage, in context: inout TransformContext
    ) throws(ImagingError) -> VipsImage {
        if image.isGrey, Self.keepsGrey { return image }
        return try image.inColor().recombined(by: matrix)
    }
}
