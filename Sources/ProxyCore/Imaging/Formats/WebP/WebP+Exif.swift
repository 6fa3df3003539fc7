// SPDX-License-Identifier: Apache-2.0

/// Removes the EXIF of a file that libvips has written (RFC 9649 §2.7).
extension WebP {
    /// The same file without EXIF, and without the header that only said so; unchanged if it has none.
    static func withoutExif(_ encoded: consuming EncodedImage) -> EncodedImage {
        let layout = unsafe encoded.withBytes { unsafe Layout($0) }
        guard let layout else { return encoded }
        let stripped = encoded.keeping(layout.kept)
        let size = UInt32(clamping: stripped.count - WebPHeader.chunkHeader)
        let resized = stripped.replacing(
            Insertion(bytes: (0..<4).map { UInt8(truncatingIfNeeded: size >> ($0 * 8)) }, offset: 4))
        guard let flags = layout.flags else { return resized }
        return resized.replacing(Insertion(bytes: [flags], offset: Layout.flagsOffset))
    }

    /// What stays of a file that has EXIF.
    private struct Layout {
        /// The parts of the file that stay, in order.
        var kept: [Range<Int>] = []
        /// The flags of the extended header; nil if the picture does without it.
        var flags: UInt8?

        static let flagsOffset = WebPHeader.riffHeader + WebPHeader.chunkHeader

        /// Nil for a file without an extended header that announces EXIF.
        init?(_ file: UnsafeRawBufferPointer) {
            guard file.count > Self.flagsOffset,
                unsafe file[Self.flagsOffset] & UInt8(WebPHeader.Flag.exif) != 0
            else { return nil }
            var chunks = unsafe WebPHeader.ChunkReader(file: file, place: WebPHeader.riffHeader)
            guard let header = chunks.next(), header.name == "VP8X" else { return nil }
            let others = unsafe file[Self.flagsOffset] & ~UInt8(WebPHeader.Flag.exif)
            flags = others == 0 ? nil : others
            kept = [0..<(flags == nil ? WebPHeader.riffHeader : chunks.place)]
            var start = chunks.place
            while let chunk = chunks.next() {
                // With the byte that pads a chunk of an odd length.
                let end = min(chunks.place, file.count)
                if chunk.name != "EXIF" { kept.append(start..<end) }
                start = end
            }
        }
    }
}
