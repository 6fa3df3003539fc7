// SPDX-License-Identifier: Apache-2.0

import CVips

extension VipsImage {
    /// Resamples to `target` like `resized`, but in linear light: colours are decoded to 16 bits of linear
    /// light and encoded again; alpha is premultiplied in between.
    borrowing func resizedInLinearLight(to target: PixelSize) throws(ImagingError) -> VipsImage {
        guard target != size else { return try duplicate() }
        let colors = bands - (hasAlpha ? 1 : 0)
        let light = try decodedToLight(colors)
        let small =
            try hasAlpha
            ? light.weightedByAlpha().resampled(to: target).unweightedByAlpha() : light.resampled(to: target)
        return try small.encodedFromLight(colors)
    }

    private borrowing func decodedToLight(_ colors: Int) throws(ImagingError) -> VipsImage {
        let table = (0...255).flatMap { level in
            (0..<bands).map { $0 < colors ? LightTables.light[level] : UInt16(level) * 257 }
        }
        return try unsafe derived(
            shim_look_up_wide(raw, table, 256, CInt(bands), VIPS_FORMAT_USHORT))
    }

    private borrowing func encodedFromLight(_ colors: Int) throws(ImagingError) -> VipsImage {
        let table = (0...Int(UInt16.max)).flatMap { light in
            (0..<bands).map { $0 < colors ? LightTables.levels[light] : UInt8((light + 128) / 257) }
        }
        return try unsafe derived(
            shim_look_up_wide(raw, table, CInt(UInt16.max) + 1, CInt(bands), VIPS_FORMAT_UCHAR))
    }

    private borrowing func weightedByAlpha() throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_premultiply_wide(raw, Double(UInt16.max)))
    }

    private borrowing func unweightedByAlpha() throws(ImagingError) -> VipsImage {
        try unsafe derived(shim_unpremultiply_wide(raw, Double(UInt16.max)))
    }
}

/// Conversion of encoded levels to linear light and back.
private enum LightTables {
    /// The linear light of each of the 256 levels, 0–65,535.
    static let light: [UInt16] = (0...255).map { level in
        UInt16((ToneCurve.linear(Double(level) / 255) * Double(UInt16.max)).rounded())
    }
    /// The level nearest to each of the 65,536 values of light.
    static let levels: [UInt8] = (0...Int(UInt16.max)).map { light in
        UInt8((ToneCurve.encoded(Double(light) / Double(UInt16.max)) * 255).rounded())
    }
}
