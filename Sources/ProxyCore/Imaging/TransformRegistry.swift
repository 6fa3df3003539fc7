// SPDX-License-Identifier: Apache-2.0

/// All operations, in the order of the reference.
package enum TransformRegistry {
    static let all: [any ImageTransforming.Type] = [
        Resize.self,
        Crop.self,
        Inset.self,
        Trim.self,
        Pad.self,
        Extend.self,
        Rotate.self,
        Flip.self,
        Orient.self,
        Round.self,
        Mask.self,
        Tint.self,
        Blur.self,
        Sharpen.self,
        Pixelate.self,
        Brightness.self,
        Contrast.self,
        Saturation.self,
        Gamma.self,
        Exposure.self,
        Hue.self,
        Grayscale.self,
        Invert.self,
        Sepia.self,
        Duotone.self,
        Channels.self,
        Curve.self,
        Sigmoid.self,
        Modulate.self,
        Equalize.self,
        Convolve.self,
        Noise.self,
        Opacity.self,
        Opaque.self,
        Background.self,
        Watermark.self,
        Text.self,
        Speed.self,
        Delay.self,
        Loop.self,
        Reverse.self,
    ]
    /// The operations by name.
    package static let byName: [String: any ImageTransforming.Type] = Dictionary(
        uniqueKeysWithValues: all.map { ($0.name, $0) })
}

/// An operation that changes each level of the colours by one curve.
package protocol CurveTransforming: ImageTransforming {
    /// The new level of each level.
    var curve: ToneCurve { get }
}

extension CurveTransforming {
    /// Applies the curve to all colour bands.
    package func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
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
    package func apply(to image: consuming VipsImage) throws(ImagingError) -> VipsImage {
        if image.isGrey, Self.keepsGrey { return image }
        return try image.inColor().recombined(by: matrix)
    }
}
