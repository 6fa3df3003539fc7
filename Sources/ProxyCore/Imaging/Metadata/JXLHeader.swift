// SPDX-License-Identifier: Apache-2.0

/// What a JPEG XL file says before its first frame (ISO/IEC 18181-1 Annex D, 18181-2 for its boxes).
struct JXLHeader {
    /// Whether frames follow one another in time.
    let isAnimated: Bool

    private static let signature: [UInt8] = [0xFF, 0x0A]

    /// Reads bare codes, and those in boxes; nil where the header is not there as a whole.
    init?(_ file: UnsafeRawBufferPointer) {
        guard let codes = unsafe Self.codes(of: file) else { return nil }
        var bits = Bits(codes)
        for byte in Self.signature where bits.take(8) != Int(byte) { return nil }
        bits.skipSize()
        isAnimated = Self.readsAnimation(&bits)
        guard !bits.isExhausted else { return nil }
    }

    /// The codes, or the first part of them.
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

    /// Reads as far as `have_animation` (§D.3.1).
    private static func readsAnimation(_ bits: inout Bits) -> Bool {
        guard bits.take(1) == 0, bits.take(1) == 1 else { return false }
        bits.skip(3)
        if bits.take(1) == 1 { bits.skipSize() }
        if bits.take(1) == 1 { bits.skipPreview() }
        return bits.take(1) == 1
    }

    /// Bits of codes, the lowest of a byte first; zeros behind the end.
    private struct Bits {
        private var bytes: BoxReader
        private var byte = 0
        private var left = 0
        private(set) var isExhausted = false

        init(_ bytes: BoxReader) { self.bytes = bytes }

        mutating func take(_ count: Int) -> Int {
            (0..<count).reduce(0) { value, place in value | bit() << place }
        }

        mutating func skip(_ count: Int) { for _ in 0..<count { _ = bit() } }

        private mutating func bit() -> Int {
            if left == 0 {
                let next = bytes.number(1)
                isExhausted = isExhausted || next == nil
                byte = next ?? 0
                left = 8
            }
            left -= 1
            return byte >> (7 - left) & 1
        }

        /// Passes over the size of a picture (§D.2).
        mutating func skipSize() {
            skipSides(eighths: { $0.skip(5) }, pixels: { $0.skipOne(of: [9, 13, 18, 30]) })
        }

        /// Passes over the size of a preview.
        mutating func skipPreview() {
            skipSides(eighths: { $0.skipOne(of: [0, 0, 5, 9]) }, pixels: { $0.skipOne(of: [6, 8, 10, 12]) })
        }

        private mutating func skipSides(eighths: (inout Bits) -> Void, pixels: (inout Bits) -> Void) {
            let isEighths = take(1) == 1
            if isEighths { eighths(&self) } else { pixels(&self) }
            // The other side is told where it is in no usual ratio to the first.
            guard take(3) == 0 else { return }
            if isEighths { eighths(&self) } else { pixels(&self) }
        }

        /// Passes over a number that two bits give the length of.
        private mutating func skipOne(of lengths: [Int]) { skip(lengths[take(2)]) }
    }
}
