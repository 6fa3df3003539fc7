// SPDX-License-Identifier: Apache-2.0

/// How much memory a job takes at its worst, from facts of the header alone.
///
/// Meant to be right within a factor of two and never far too low; a worker's own limit holds beside it.
struct MemoryEstimate {
    let header: ImageHeader
    /// How many frames are decoded.
    let frames: Int
    let plan: RenderPlan

    /// Rows that are in memory at once where a picture passes through from top to bottom.
    private static let rowsInFlight = 256
    private static let bytesPerPixel = 4
    /// Planes of brightness and colour in 16 bits, and the pixels made of them.
    private static let videoBytesPerPixel = 10
    /// Float samples before and after the colour transform.
    private static let jxlBytesPerPixel = 28
    /// What libaom keeps for each pixel while it searches.
    private static let avifWriterBytesPerPixel = 40
    /// A result beside the one that it is made from, as operations and progressive writers hold it.
    private static let resultBytesPerPixel = 8

    /// All of it, in bytes.
    var bytes: Int { decoder + result * Self.resultBytesPerPixel + writer + intermediate }

    /// The intermediate that is written beside the result, which is held while both are made.
    private var intermediate: Int {
        guard case .write(let width, let height, _) = plan.intermediate else { return 0 }
        return width * height * Self.resultBytesPerPixel
    }

    /// What the decoder holds at once.
    private var decoder: Int {
        let pixels = header.size.area * frames
        let rows = min(pixels, header.size.width * Self.rowsInFlight) * Self.bytesPerPixel
        switch header.format {
        // The coefficients of all blocks, 16 bits each, before the first row can be shown.
        case .jpeg: return header.isInterlaced ? pixels * 3 * 2 : rows
        case .png: return header.isInterlaced ? pixels * Self.bytesPerPixel : rows
        case .webp, .svg: return pixels * Self.bytesPerPixel
        case .gif:
            return header.size.area * Self.bytesPerPixel + (frames > 1 ? pixels * Self.bytesPerPixel : 0)
        case .avif, .heic: return pixels * Self.videoBytesPerPixel
        case .jxl: return pixels * Self.jxlBytesPerPixel
        case .tiff: return rows
        }
    }

    /// The pixels after the first operation where the header tells those, else of the source.
    private var result: Int { (plan.firstSize(of: plan.original ?? header) ?? header.size).area * frames }

    private var writer: Int {
        let isAVIF =
            switch plan.format {
            case .explicit(let format): format == .avif
            case .automatic(let formats): formats.contains(.avif) && result < plan.avifMaxPixels
            case .source: header.format == .avif
            case .information: false
            }
        return isAVIF ? result * Self.avifWriterBytesPerPixel : 0
    }
}
