// SPDX-License-Identifier: Apache-2.0

import CVips

/// One palette for all frames of an animation, where it shows them as well as one for each would.
///
/// To choose a palette takes several times as long as to use it. It is chosen with all effort for a sheet of pixels from all
/// frames. Measured on photos that move, 800 × 600: as like to them as with a palette for each frame, in a quarter of the time.
struct SharedPalette {
    /// The colours, as libvips notes them.
    let colors: [CInt]

    /// Most pixels of the sheet.
    private static let sheetPixels = 1 << 18
    /// The mean square error of a frame's samples up to which it is well shown; that of a photo with a palette of its own is
    /// about 13.
    private static let errorLimit = 20
    private static let samplesPerPixel = 3

    /// Chooses it; nil where some frame needs colours of its own, and where there is transparency.
    ///
    /// - Parameter frames: in memory, below each other.
    init?(of frames: borrowing VipsImage) throws(ImagingError) {
        let height = unsafe Int(vips_image_get_page_height(frames.raw))
        let size = frames.size
        guard frames.bands == Self.samplesPerPixel, height < size.height else { return nil }
        let (across, down) = Self.steps(size, height)
        let sheet = try unsafe frames.derived(shim_subsample(frames.raw, CInt(across), CInt(down))).computed()
        sheet.forgetFrames()
        let settings = EncodeSettings(
            format: .gif, quality: 100, isLossless: false, isProgressive: nil, metadata: .none)
        let shown = try Self.reopened(VipsCoder.encode(sheet, settings))
        let rows = height / down
        let levels = try shown.hasAlpha ? shown.colorBands().samples() : shown.samples()
        let isGood = try Self.isNear(levels, sheet.samples(), part: rows * sheet.size.width)
        guard isGood, let colors = shown.palette else { return nil }
        self.colors = colors
    }

    /// How far the sheet's pixels are apart: rows in such a way that every frame has equally many.
    private static func steps(_ size: PixelSize, _ height: Int) -> (across: Int, down: Int) {
        let wanted = max(1, Int((Double(size.area) / Double(sheetPixels)).squareRoot()))
        let down = (1...wanted).last { height.isMultiple(of: $0) } ?? 1
        return (min(size.width, max(1, size.area / down / sheetPixels)), down)
    }

    private static func reopened(_ encoded: borrowing EncodedImage) throws(ImagingError) -> VipsImage {
        let source = unsafe encoded.withBytes { bytes in
            unsafe VipsSource.filled(count: bytes.count) { memory in
                unsafe memory.copyMemory(from: bytes)
                return true
            }
        }
        guard let source else { throw .outOfMemory("a palette") }
        return try VipsCoder.open(source, as: .gif, frames: .primary, shrink: .none)
    }

    /// Whether each part of so many pixels is near enough.
    private static func isNear(_ shown: [UInt8], _ wanted: [UInt8], part: Int) -> Bool {
        guard shown.count == wanted.count, part > 0 else { return false }
        let length = part * samplesPerPixel
        return stride(from: 0, to: wanted.count, by: length).allSatisfy { start in
            let range = start..<min(start + length, wanted.count)
            let sum = range.reduce(0) { sum, index in
                let difference = Int(shown[index]) - Int(wanted[index])
                return sum + difference * difference
            }
            return sum <= errorLimit * range.count
        }
    }
}

extension VipsImage {
    /// Leaves out an alpha band that is opaque everywhere; reads all pixels, which must be in memory.
    borrowing func withoutFullAlpha() throws(ImagingError) -> VipsImage {
        guard hasAlpha else { return try duplicate() }
        let alpha = try unsafe derived(shim_bands(raw, CInt(bands - 1), 1))
        let clearest = try unsafe alpha.derived(shim_linear(alpha.raw, -1, 255)).brightest()
        return try clearest > 0 ? duplicate() : colorBands()
    }

    /// The palette that a GIF's frames share; nil where they do not.
    fileprivate var palette: [CInt]? {
        var count: CInt = 0
        guard let colors = unsafe shim_ints_field(raw, "gif-palette", &count), count > 0 else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: colors, count: Int(count)))
    }

    /// Notes a palette for the frames; the image must not be shared, as after `duplicate`.
    borrowing func set(_ palette: SharedPalette) {
        unsafe shim_set_ints_field(raw, "gif-palette", palette.colors, CInt(palette.colors.count))
    }
}
