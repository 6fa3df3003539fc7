// SPDX-License-Identifier: Apache-2.0

import Bodies

/// An open file that should be an entry's: reads its header and checks its body.
///
/// With `fromMemory` each call reads only what the kernel has in memory, and throws `wouldBlock` for the
/// rest.
struct EntryFile {
    let file: OwnedDescriptor
    /// What its inode says.
    let identity: VerifiedFiles.Identity

    init(_ file: OwnedDescriptor) throws(DiskCacheError) {
        self.file = file
        identity = try file.identity()
    }

    /// The first read, in bytes: the whole header of nearly every entry.
    static let firstRead = 4 << 10
    /// How much of a body is read at once to check it, in bytes.
    private static let pieceLength = 256 << 10

    /// The entry that the file's header describes; nil if the file is torn, truncated, altered, or something
    /// else.
    ///
    /// - Parameters:
    ///   - beginning: the first bytes of the file, if they have been read.
    ///   - keyText: avoids creating a string if the header has this one.
    func header(
        _ beginning: [UInt8]? = nil, expecting keyText: String? = nil, fromMemory: Bool = false
    ) throws(DiskCacheError) -> DiskEntry? {
        guard identity.size >= DiskEntry.fixedLength else { return nil }
        let wanted = Int(min(identity.size, Int64(Self.firstRead)))
        var bytes = beginning ?? []
        if beginning == nil { bytes = try file.read(wanted, at: 0, fromMemory: fromMemory) }
        guard bytes.count >= wanted, let offset = DiskEntry.bodyOffset(inFixedPart: bytes[...]),
            Int64(offset) <= identity.size
        else { return nil }
        if offset > bytes.count { bytes = try file.read(offset, at: 0, fromMemory: fromMemory) }
        guard let entry = DiskEntry(header: bytes.prefix(offset), expecting: keyText),
            entry.fileLength == identity.size
        else { return nil }
        return entry
    }

    /// The checksum of some bytes, or of as many of them as there are.
    func checksum(_ range: Range<Int64>, fromMemory: Bool) throws(DiskCacheError) -> UInt32 {
        var checksum: UInt32 = 0
        for place in stride(from: range.lowerBound, to: range.upperBound, by: Self.pieceLength) {
            let wanted = min(Int(range.upperBound - place), Self.pieceLength)
            let piece = try file.read(wanted, at: place, fromMemory: fromMemory)
            checksum = Checksum.crc32c(piece, continuing: checksum)
            guard piece.count == wanted else { break }
        }
        return checksum
    }
}
