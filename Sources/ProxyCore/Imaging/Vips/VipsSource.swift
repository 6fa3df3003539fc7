// SPDX-License-Identifier: Apache-2.0

import CVips
import Glibc

/// The bytes of a source picture in memory, for a decoder, which may read them several times.
///
/// They are a copy, because bytes that a decoder reads twice must not change in between.
@safe package struct VipsSource: ~Copyable {
    /// The object; owned.
    let raw: UnsafeMutablePointer<CVips.VipsSource>
    /// The first bytes, from which the format is recognized.
    let prefix: [UInt8]
    /// The number of received bytes.
    let count: Int

    /// The bytes; owned by `raw`.
    private let memory: UnsafeRawBufferPointer

    private init(
        raw: UnsafeMutablePointer<CVips.VipsSource>, prefix: [UInt8], memory: UnsafeRawBufferPointer,
        count: Int
    ) {
        unsafe self.memory = unsafe memory
        unsafe self.raw = unsafe raw
        self.count = count
        self.prefix = prefix
    }

    /// Fills `count` bytes with `read`, which gets the memory and returns whether it has filled all of it.
    ///
    /// - Returns: nil if it has not, or without memory.
    static func filled(
        count: Int, by read: (UnsafeMutableRawBufferPointer) -> Bool
    ) -> VipsSource? {
        guard let memory = unsafe malloc(max(1, count)) else { return nil }
        let bytes = unsafe UnsafeMutableRawBufferPointer(start: memory, count: count)
        guard unsafe read(bytes) else {
            unsafe free(memory)
            return nil
        }
        let prefix = unsafe Array(bytes.prefix(ImageFormat.sniffLength))
        let held = unsafe completed(bytes, ImageFormat(sniffing: prefix))
        guard let source = unsafe shim_source_adopting(held.baseAddress, held.count) else { return nil }
        return unsafe VipsSource(
            raw: source, prefix: prefix, memory: UnsafeRawBufferPointer(held), count: count)
    }

    /// Adds bytes that a decoder lacks, and replaces bytes that it misinterprets; the decoder then gets other
    /// memory.
    private static func completed(
        _ bytes: UnsafeMutableRawBufferPointer, _ format: ImageFormat?
    ) -> UnsafeMutableRawBufferPointer {
        if format?.isHEIF ?? false { unsafe HEIFOrder.arrange(bytes) }
        let file = UnsafeRawBufferPointer(bytes)
        let changed: [UInt8]? =
            switch format {
            case .avif, .heic: unsafe HEIFAlpha.completed(file)
            case .svg: unsafe DrawingSize.inPixels(file)
            default: nil
            }
        guard let whole = changed, let memory = unsafe realloc(bytes.baseAddress, whole.count) else {
            return unsafe bytes
        }
        let larger = unsafe UnsafeMutableRawBufferPointer(start: memory, count: whole.count)
        unsafe larger.copyBytes(from: whole)
        return unsafe larger
    }

    /// Copies bytes; nil without memory.
    package static func copy(of bytes: [UInt8]) -> VipsSource? {
        unsafe filled(count: bytes.count) { memory in
            unsafe memory.copyBytes(from: bytes)
            return true
        }
    }

    /// Enlarges the declared size of a JPEG to the next multiple of `divisor`; its data consists of whole
    /// blocks. A decoder that omits frequencies then keeps the columns and rows that do not fill a pixel of
    /// its own.
    ///
    /// - Returns: whether the size was changed.
    borrowing func growToMultiple(of divisor: Int) -> Bool {
        guard let place = unsafe JPEGScans(of: memory).growingSize else { return false }
        let bytes = unsafe UnsafeMutableRawBufferPointer(mutating: memory)
        let sides = [place, place + 2].map { unsafe Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
            .map { ($0 + divisor - 1) / divisor * divisor }
        guard sides.allSatisfy({ (1...Self.longestJPEGSide).contains($0) }) else { return false }
        for (side, place) in zip(sides, [place, place + 2]) {
            unsafe bytes[place] = UInt8(side >> 8)
            unsafe bytes[place + 1] = UInt8(side & 255)
        }
        return true
    }

    /// The longest side that libjpeg accepts.
    private static let longestJPEGSide = 65_500

    /// Lends all bytes.
    borrowing func withBytes<Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        try unsafe body(memory)
    }

    /// The animation of a PNG; nil for a still and for other formats. O(number of chunks).
    var pngAnimation: PNGAnimation? {
        guard prefix.starts(with: PNGChunks.signature) else { return nil }
        return unsafe PNGAnimation(memory)
    }

    /// The frames of a GIF that the daemon composes itself; nil if libvips does, and for other formats.
    /// O(bytes ÷ 255).
    var gifAnimation: GIFAnimation? {
        guard prefix.starts(with: "GIF8".utf8) else { return nil }
        return unsafe GIFAnimation(memory)
    }

    /// The EXIF block of a PNG; nil if there is none, and for other formats. O(number of chunks).
    var pngExif: [UInt8]? {
        guard prefix.starts(with: PNGChunks.signature) else { return nil }
        return unsafe PNGChunks.exif(of: memory)
    }

    /// Artist and copyright of a TIFF, which libvips does not read, as an EXIF block; nil without both, and
    /// for other formats. O(bytes).
    var tiffOwnership: [UInt8]? {
        guard ImageFormat(sniffing: prefix) == .tiff, let block = unsafe ExifBlock(Array(memory)) else {
            return nil
        }
        let (artist, copyright) = (block.text(.artist), block.text(.copyright))
        guard artist != nil || copyright != nil else { return nil }
        return ExifBlock(artist: artist, copyright: copyright).bytes
    }

    deinit {
        unsafe g_object_unref(raw)
    }
}
