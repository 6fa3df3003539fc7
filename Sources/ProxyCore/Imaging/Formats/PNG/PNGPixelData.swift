// SPDX-License-Identifier: Apache-2.0

extension PNGChunks {
    /// The number of compressed pixel bytes that a picture may still have: bytes beyond it cost time to
    /// unpack, and have no effect.
    struct PixelData {
        private var left = Int.max
        private var bitsPerPixel = 0
        private var isInterlaced = false
        private var hasPicture = false

        /// The longest side for which the size is computed; longer ones are refused anyway.
        private static let longestSide = 1 << 24
        /// The number of bytes that any picture may have in addition.
        private static let allowance = 64 << 10
        /// The overhead of an uncompressed block (RFC 1951 §3.2.4); each row may be a block.
        private static let blockOverhead = 5
        /// The length of blocks within rows: shorter than any encoder writes.
        private static let blockLength = 256
        /// The number of samples per pixel, by colour type (PNG third edition §11.2.1).
        private static let samples = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4]
        /// The first column and row of each pass, and the steps to the next ones (PNG third edition §8.1).
        private static let passes = [
            (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
        ]

        /// Counts a chunk, and throws if its picture or frame has too many bytes.
        mutating func note(_ chunk: Chunk, _ chunks: PNGChunks) throws(ImagingError) {
            let start = chunk.body.lowerBound
            switch chunk.name {
            case .header where chunk.body.count >= 13:
                let depth = unsafe Int(chunks.file[start + 8])
                bitsPerPixel = unsafe depth * (Self.samples[Int(chunks.file[start + 9])] ?? 4)
                isInterlaced = unsafe chunks.file[start + 12] == 1
                left = most(chunks.number(at: start), chunks.number(at: start + 4))
            case .frame where hasPicture && chunk.body.count >= 12:
                left = most(chunks.number(at: start + 4), chunks.number(at: start + 8))
            case .data, .frameData:
                hasPicture = true
                left -= chunk.body.count
                guard left >= 0 else { throw .badImageData("more packed pixels than the picture has") }
            default: break
            }
        }

        /// The maximum size of the pixels without compression.
        private func most(_ width: Int, _ height: Int) -> Int {
            let (width, height) = (min(width, Self.longestSide), min(height, Self.longestSide))
            let passes = isInterlaced ? Self.passes : [(0, 0, 1, 1)]
            return passes.reduce(Self.allowance) { sum, pass in
                let columns = max(0, width - pass.0 + pass.2 - 1) / pass.2
                let rows = max(0, height - pass.1 + pass.3 - 1) / pass.3
                guard columns > 0 else { return sum }
                let row = 1 + (columns * bitsPerPixel + 7) / 8
                return sum + rows * (row + Self.blockOverhead * (1 + row / Self.blockLength))
            }
        }
    }
}
