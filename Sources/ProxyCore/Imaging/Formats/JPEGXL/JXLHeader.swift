// SPDX-License-Identifier: Apache-2.0

/// The header of a JPEG XL file before its first frame (ISO/IEC 18181-1 Annex D, 18181-2 for its boxes).
struct JXLHeader {
    /// Whether the frames are an animation.
    let isAnimated: Bool

    /// A bare codestream begins with it.
    static let signature: [UInt8] = [0xFF, 0x0A]

    /// Reads a bare codestream or one in boxes; nil if the header is incomplete.
    init?(_ file: UnsafeRawBufferPointer) {
        guard let codes = unsafe Self.codes(of: file) else { return nil }
        var bits = BitReader(codes, isHighestFirst: false)
        for byte in Self.signature where bits.take(8) != Int(byte) { return nil }
        bits.skipSize()
        isAnimated = Self.readsAnimation(&bits)
        guard !bits.isExhausted else { return nil }
    }

    /// The codestream, or its first part.
    private static func codes(of file: UnsafeRawBufferPointer) -> BoxReader? {
        let whole = unsafe BoxReader(file)
        if unsafe file.starts(with: signature) { return whole }
        for box in whole.boxes() {
            var body = box.body
            if box.type == "jxlc" { return body }
            // A part begins with its number.
            if box.type == "jxlp" { return body.skip(4).map { body } }
        }
        return nil
    }

    /// Reads the header up to `have_animation` (§D.3.1).
    private static func readsAnimation(_ bits: inout BitReader) -> Bool {
        guard bits.take(1) == 0, bits.take(1) == 1 else { return false }
        bits.skip(3)
        if bits.take(1) == 1 { bits.skipSize() }
        if bits.take(1) == 1 { bits.skipPreview() }
        return bits.take(1) == 1
    }
}

extension BitReader {
    /// Skips the size of a picture (§D.2).
    fileprivate mutating func skipSize() {
        skipSides(eighths: { $0.skip(5) }, pixels: { $0.skipOne(of: [9, 13, 18, 30]) })
    }

    /// Skips the size of a preview.
    fileprivate mutating func skipPreview() {
        skipSides(eighths: { $0.skipOne(of: [0, 0, 5, 9]) }, pixels: { $0.skipOne(of: [6, 8, 10, 12]) })
    }

    private mutating func skipSides(eighths: (inout BitReader) -> Void, pixels: (inout BitReader) -> Void) {
        let isEighths = take(1) == 1
        if isEighths { eighths(&self) } else { pixels(&self) }
        // The other side follows unless a fixed ratio is given.
        guard take(3) == 0 else { return }
        if isEighths { eighths(&self) } else { pixels(&self) }
    }

    /// Skips a number whose length is given by two bits.
    private mutating func skipOne(of lengths: [Int]) { skip(lengths[take(2)]) }
}
