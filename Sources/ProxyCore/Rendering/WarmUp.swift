// SPDX-License-Identifier: Apache-2.0

import Imaging

/// A job that makes libvips and its coders load all they load on first use, before a worker is sandboxed.
enum WarmUp {
    private static let side = 32

    /// Encodes, decodes and resizes a small picture in each format; false if one of these does not work.
    static func succeeds(with formats: [ImageFormat] = ImageFormat.shownByBrowsers) -> Bool {
        do {
            try VipsLibrary.start()
            var encoded = try VipsCoder.encode(plain(), settings(.jpeg))
            for format in formats {
                encoded = try VipsCoder.encode(resized(encoded), settings(format))
            }
            _ = try VipsCoder.encode(resized(encoded), settings(.jpeg))
            return true
        } catch {
            return false
        }
    }

    /// Makes Pango and fontconfig look for fonts now, not when files can no longer be opened.
    static func readFonts() {
        // Ignored: why; if no font is installed, pictures without text are rendered all the same.
        _ = try? VipsImage.text("Ag", font: "sans 12", width: side).size
    }

    private static func plain() throws(ImagingError) -> VipsImage {
        try VipsImage.uniform(.black, size: PixelSize(side, side))
    }

    private static func resized(_ encoded: borrowing EncodedImage) throws(ImagingError) -> VipsImage {
        guard let source = VipsSource.copy(of: encoded), let format = source.format else {
            throw .badImageData("warm-up")
        }
        let image = try VipsCoder.open(source, as: format, frames: .primary, shrink: .none)
        return try image.resized(to: PixelSize(side - 1, side)).inSRGB(keepsGrey: false)
    }

    private static func settings(_ format: ImageFormat) -> EncodeSettings {
        EncodeSettings(
            format: format, quality: 50, isLossless: false, isProgressive: nil, metadata: .none)
    }
}
