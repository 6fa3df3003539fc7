// SPDX-License-Identifier: Apache-2.0

/// An open file that should be an entry's: reads its header and checks its body, waiting for the disk or not.
struct EntryFile {
    /// What reading came to.
    enum Header: Equatable {
        /// It is an entry's, as far as the header goes.
        case entry(DiskEntry)
        /// It is torn, cut short, altered, or something else.
        case invalid
        /// Nobody can tell without waiting for the disk.
        case wouldBlock
    }

    /// What checking came to.
    enum Check {
        /// The body is the one that was stored.
        case passed
        /// It is not.
        case failed
        /// Nobody can tell without waiting for the disk.
        case wouldBlock
    }

    /// The file.
    let file: OwnedDescriptor
    /// What its inode tells.
    let status: DiskFolder.Status

    /// What is read at first: the whole header of nearly every entry, in bytes.
    private static let firstRead = 1_024
    /// How much of a body is read at once to check it, in bytes.
    private static let pieceLength = 256 << 10

    /// The entry that the file's header describes, waiting for the disk; nil when the file is invalid.
    func header() throws(DiskCacheError) -> DiskEntry? {
        guard case .entry(let entry) = try header(fromMemory: false) else { return nil }
        return entry
    }

    /// Reads the header and holds it against the file's length.
    func header(fromMemory: Bool) throws(DiskCacheError) -> Header {
        guard status.size >= DiskEntry.fixedLength else { return .invalid }
        let wanted = Int(min(status.size, Int64(Self.firstRead)))
        guard case .bytes(let first) = try file.read(wanted, at: 0, fromMemory: fromMemory) else {
            return .wouldBlock
        }
        guard first.count == wanted, let offset = DiskEntry.bodyOffset(inFixedPart: first[...]),
            Int64(offset) <= status.size
        else { return .invalid }
        guard offset > first.count else { return parse(first[..<offset]) }
        guard case .bytes(let whole) = try file.read(offset, at: 0, fromMemory: fromMemory) else {
            return .wouldBlock
        }
        return parse(whole[...])
    }

    private func parse(_ bytes: ArraySlice<UInt8>) -> Header {
        guard let entry = DiskEntry(header: bytes), entry.fileLength == status.size else { return .invalid }
        return .entry(entry)
    }

    /// Holds the body against its checksum; O(length).
    func check(_ entry: DiskEntry, fromMemory: Bool) throws(DiskCacheError) -> Check {
        guard
            let checksum = try checksum(of: entry.bodyLength, from: entry.bodyOffset, fromMemory: fromMemory)
        else { return .wouldBlock }
        return checksum == entry.bodyChecksum ? .passed : .failed
    }

    /// The checksum of `length` bytes from `offset`, or of as many as there are; nil when some are not in memory.
    func checksum(of length: Int64, from offset: Int64, fromMemory: Bool) throws(DiskCacheError) -> UInt32? {
        var checksum: UInt32 = 0
        var place = offset
        while place < offset + length {
            let wanted = Int(min(offset + length - place, Int64(Self.pieceLength)))
            guard case .bytes(let piece) = try file.read(wanted, at: place, fromMemory: fromMemory) else {
                return nil
            }
            checksum = unsafe piece.withUnsafeBytes { unsafe Checksum.crc32c($0, continuing: checksum) }
            guard piece.count == wanted else { break }
            place += Int64(wanted)
        }
        return checksum
    }

    /// Whether the end of the body is in memory, and so, most likely, all of it.
    func isInMemory(_ entry: DiskEntry) throws(DiskCacheError) -> Bool {
        guard entry.bodyLength > 0 else { return true }
        guard case .bytes = try file.read(1, at: entry.fileLength - 1, fromMemory: true) else { return false }
        return true
    }
}

extension DiskEntry {
    /// The entry's name in the tier.
    var id: EntryID { EntryID(kind: description.kind, key: description.key) }
}
