// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Says which entries are about to change, before any of their files does: what a start after a crash has to look at.
///
/// One block in one file, written over by each batch, once the batch before is in the index. A row in the index would
/// say the same at twenty times the price of this one write. A block that was torn by a crash is no block: then none of
/// its entries had been touched yet. Only the thread that writes to the tier uses it.
final class CommitJournal: Sendable {
    /// What a block says.
    struct Block: Equatable {
        /// The entries whose files are about to be named or replaced.
        var entries: [EntryID] = []
        /// Whether every entry is about to go.
        var removesEverything = false
    }

    private static let fileName = "journal"
    private static let magic = Array("imgjrnl1".utf8)
    private static let checksumPlace = 8
    private static let headLength = 20
    private static let entryLength = 17

    private let file: OwnedDescriptor
    private let capacity: Int

    /// Opens the folder's journal and takes the space for blocks of up to `capacity` entries, so that none lacks it later.
    init(folder: DiskFolder, capacity: Int) throws(DiskCacheError) {
        self.capacity = capacity
        file = try Self.open(in: folder.root, capacity: capacity)
    }

    /// A journal of no folder, until there is one that can be written in.
    init(capacity: Int) throws(DiskCacheError) {
        self.capacity = capacity
        file = try OwnedDescriptor.anonymous(Self.fileName)
    }

    /// Opens the journal of a folder that may take the first one's place; `reattach` makes it that.
    func open(in root: OwnedDescriptor) throws(DiskCacheError) -> OwnedDescriptor {
        try Self.open(in: root, capacity: capacity)
    }

    /// Goes on in the folder that has taken the first one's place.
    func reattach(to other: OwnedDescriptor) throws(DiskCacheError) {
        try file.replace(by: other)
        try write(Block())
    }

    private static func open(
        in root: OwnedDescriptor, capacity: Int
    ) throws(DiskCacheError) -> OwnedDescriptor {
        let file = try DiskFolder.openOwn(fileName, in: root)
        let code = posix_fallocate(file.raw, 0, off_t(headLength + capacity * entryLength))
        guard code == 0 else { throw DiskCacheError("posix_fallocate", code: code) }
        return file
    }

    /// Writes a block in place of the last one; it holds no more entries than the capacity.
    func write(_ block: Block) throws(DiskCacheError) {
        guard block.entries.count <= capacity else { throw .invalid("too many entries for the journal") }
        var writer = LittleEndianWriter()
        writer.append(contentsOf: Self.magic)
        writer.append(UInt32(0))
        writer.append(UInt32(block.removesEverything ? 1 : 0))
        writer.append(UInt32(block.entries.count))
        for id in block.entries {
            writer.append(id.kind.rawValue)
            writer.append(id.key)
        }
        writer.overwrite(Checksum.crc32c(writer.bytes), at: Self.checksumPlace)
        try file.write(writer.bytes, at: 0)
    }

    /// The last block; an empty one where there is none, or a torn one.
    func read() throws(DiskCacheError) -> Block {
        let length = try Int(file.length())
        guard case .bytes(let bytes) = try file.read(length, at: 0, fromMemory: false) else { return Block() }
        return Self.parse(bytes) ?? Block()
    }

    private static func parse(_ bytes: [UInt8]) -> Block? {
        var reader = LittleEndianReader(bytes[...])
        guard reader.take(magic.count)?.elementsEqual(magic) == true,
            let checksum = reader.integer(UInt32.self), let flags = reader.integer(UInt32.self),
            let count = reader.integer(UInt32.self),
            bytes.count >= headLength + Int(count) * entryLength
        else { return nil }
        var covered = Array(bytes.prefix(headLength + Int(count) * entryLength))
        for index in checksumPlace..<checksumPlace + 4 { covered[index] = 0 }
        guard Checksum.crc32c(covered) == checksum else { return nil }
        var block = Block(removesEverything: flags & 1 != 0)
        for _ in 0..<count {
            guard let kind = reader.integer(UInt8.self).flatMap(EntryKind.init(rawValue:)),
                let key = reader.key()
            else { return nil }
            block.entries.append(EntryID(kind: kind, key: key))
        }
        return block
    }
}
