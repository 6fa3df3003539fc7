// SPDX-License-Identifier: Apache-2.0

import CVips

/// Filters of colours without alpha.
extension VipsImage {
    /// Changes the colours by a filter; alpha is unchanged.
    borrowing func onColors(
        _ change: (borrowing VipsImage) throws(ImagingError) -> VipsImage
    ) throws(ImagingError) -> VipsImage {
        guard hasAlpha else { return try change(self) }
        let ready = try inMemory()
        let colors = try change(ready.colorBands())
        let alpha = try ready.band(bands - 1)
        return try unsafe colors.derived(shim_bandjoin(colors.raw, alpha.raw))
    }

    /// Replaces each sample by the weighted sum of those around it; the image must not be sequential.
    borrowing func convolved(
        with weights: [Double], width: Int, divisor: Double
    ) throws(ImagingError) -> VipsImage {
        try unsafe derived(
            shim_convolve(raw, weights, CInt(width), CInt(weights.count / width), divisor)
        ).roundedToBytes()
    }

    /// How often each level is there: for each of the 256 levels one count a band. Reads the image once.
    borrowing func histogram() throws(ImagingError) -> [UInt32] {
        let counts = try unsafe derived(shim_histogram(raw)).samples()
        return unsafe counts.withUnsafeBytes { unsafe Array($0.bindMemory(to: UInt32.self)) }
    }

    /// Spreads the levels of each band; the image must not be sequential.
    borrowing func equalized() throws(ImagingError) -> VipsImage {
        let counts = try histogram()
        return try lookedUp(
            in: (0..<bands).map { band in .spreading((0...255).map { counts[$0 * bands + band] }) })
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
