// SPDX-License-Identifier: Apache-2.0

import CVips

/// One palette for all frames of an animation, if it represents them as well as one palette for each.
///
/// Choosing a palette takes several times as long as using it. This one is chosen with maximum effort for a
/// sample of pixels of all frames. Measured with moving photos of 800 × 600: the same similarity as with a
/// palette for each frame, in a quarter of the time.
struct SharedPalette {
    /// The colours in libvips' format.
    let colors: [CInt]

    /// The maximum number of sampled pixels.
    private static let sheetPixels = 1 << 18
    /// The maximum mean square error of a frame's samples; that of a photo with its own palette is about 13.
    private static let errorLimit = 20
    private static let samplesPerPixel = 3

    /// Chooses a palette; nil if some frame needs its own colours, and for transparent pictures.
    ///
    /// - Parameter frames: in memory, one below the other.
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

    /// The distance between sampled pixels; rows are chosen so that every frame has equally many.
    private static func steps(_ size: PixelSize, _ height: Int) -> (across: Int, down: Int) {
        let wanted = max(1, Int((Double(size.area) / Double(sheetPixels)).squareRoot()))
        let down = (1...wanted).last { height.isMultiple(of: $0) } ?? 1
        return (min(size.width, max(1, size.area / down / sheetPixels)), down)
    }

    private static func reopened(_ encoded: borrowing EncodedImage) throws(ImagingError) -> VipsImage {
        guard let source = VipsSource.copy(of: encoded) else { throw .outOfMemory("a palette") }
        return try VipsCoder.open(source, as: .gif, frames: .primary, shrink: .none)
    }

    /// Whether the error of each part with this number of samples is small enough.
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
    /// Removes an alpha band that is opaque everywhere; reads all pixels, which must be in memory.
    borrowing func withoutFullAlpha() throws(ImagingError) -> VipsImage {
        guard hasAlpha else { return try duplicate() }
        let alpha = try unsafe derived(shim_bands(raw, CInt(bands - 1), 1))
        let clearest = try unsafe alpha.derived(shim_linear(alpha.raw, -1, 255)).brightest()
        return try clearest > 0 ? duplicate() : colorBands()
    }

    /// The palette that a GIF's frames share; nil if they do not share one.
    fileprivate var palette: [CInt]? {
        var count: CInt = 0
        guard let colors = unsafe shim_ints_field(raw, "gif-palette", &count), count > 0 else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: colors, count: Int(count)))
    }

    /// Sets a palette for the frames; the image must not be shared, as after `duplicate`.
    borrowing func set(_ palette: SharedPalette) {
        unsafe shim_set_ints_field(raw, "gif-palette", palette.colors, CInt(palette.colors.count))
    }
}
