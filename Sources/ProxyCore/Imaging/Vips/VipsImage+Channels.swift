// SPDX-License-Identifier: Apache-2.0

import CVips

/// Filters of colours without alpha, which `joined(with:)` puts behind them again.
extension VipsImage {
    /// Adds bands behind those of this image.
    borrowing func joined(with alpha: borrowing VipsImage) throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_bandjoin(raw, alpha.raw))
    }

    /// Replaces each sample by the weighted sum of those around it; the image must not be sequential.
    borrowing func convolved(
        with weights: [Double], width: Int, divisor: Double
    ) throws(ImagingError) -> VipsImage {
        try unsafe derived(
            shim_convolve(raw, weights, CInt(width), CInt(weights.count / width), divisor)
        ).roundedToBytes()
    }

    /// Spreads the levels of each band; the image must not be sequential.
    borrowing func equalized() throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_equalize(raw))
    }

    /// Adds Gaussian noise, the same to all bands.
    borrowing func grained(by deviation: Double, seed: Int) throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_add_noise(raw, deviation, CInt(seed))).roundedToBytes()
    }

    /// Moves the colours away from grey or towards it, which is the root of their squares by `weights`, 3 × 3.
    borrowing func saturated(by amount: Double, weights: [Double]) throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_saturate(raw, weights, amount))
    }

    /// Changes lightness, chroma and hue of a colour picture.
    borrowing func modulated(
        lightness: Double, chroma: Double, hue: Double
    ) throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_modulate(raw, lightness, chroma, hue))
    }

    /// Replaces the colours of a colour picture by one, and keeps the lightness.
    borrowing func tinted(a: Double, b: Double) throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_lab_tint(raw, a, b))
    }
}
