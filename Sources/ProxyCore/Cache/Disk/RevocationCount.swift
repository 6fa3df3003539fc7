// SPDX-License-Identifier: Apache-2.0

import Glibc

/// How many revocations the index has been told of, purges and records in place of others, and of tags, by which purges
/// find what they revoke; kept in a file beside it.
///
/// What is lost of its log SQLite takes for never written, and is sound again, as of an earlier time: with records in it
/// that had been purged or replaced, and without tags. So the index counts them, in the same transactions, and the count is written here
/// right behind. An index that has counted fewer lacks some. Only the thread that writes to the tier uses it.
final class RevocationCount: Sendable {
    private static let fileName = "revocations"
    private static let magic = Array("imgrevo1".utf8)
    private static let length = 20

    private let file: OwnedDescriptor

    /// Opens the folder's file, and takes the space that it needs.
    init(folder: DiskFolder) throws(DiskCacheError) {
        file = try Self.open(in: folder.root)
    }

    /// A file of no folder, until there is one that can be written in.
    init() throws(DiskCacheError) {
        file = try OwnedDescriptor.anonymous(Self.fileName)
    }

    /// Opens the file of a folder that may take the first one's place; `reattach` makes it that.
    static func open(in root: OwnedDescriptor) throws(DiskCacheError) -> OwnedDescriptor {
        let file = try DiskFolder.openOwn(fileName, in: root)
        let code = posix_fallocate(file.raw, 0, off_t(length))
        guard code == 0 else { throw DiskCacheError("posix_fallocate", code: code) }
        return file
    }

    /// Goes on in the folder that has taken the first one's place.
    func reattach(to other: OwnedDescriptor) throws(DiskCacheError) {
        try file.replace(by: other)
    }

    /// Writes the count down.
    ///
    /// - Parameter durable: returns only when it is on the disk: what an operator purged must not come back with a power cut.
    func write(_ count: Int64, durable: Bool) throws(DiskCacheError) {
        var writer = LittleEndianWriter()
        writer.append(contentsOf: Self.magic)
        writer.append(count)
        writer.append(Checksum.crc32c(writer.bytes))
        try file.write(writer.bytes, at: 0)
        if durable { try file.sync() }
    }

    /// The count; 0 where none was ever written, and more than any index has counted where it was altered.
    func read() throws(DiskCacheError) -> Int64 {
        guard case .bytes(let bytes) = try file.read(Self.length, at: 0, fromMemory: false) else {
            return .max
        }
        guard bytes.contains(where: { $0 != 0 }) else { return 0 }
        var reader = LittleEndianReader(bytes[...])
        guard reader.take(Self.magic.count)?.elementsEqual(Self.magic) == true,
            let count = reader.integer(Int64.self), let checksum = reader.integer(UInt32.self),
            checksum == Checksum.crc32c(Array(bytes.prefix(Self.length - 4)))
        else { return .max }
        return count
    }
}
