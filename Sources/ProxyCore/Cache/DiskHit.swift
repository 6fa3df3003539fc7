// SPDX-License-Identifier: Apache-2.0

/// An entry that was found on disk, its body checked.
public struct DiskHit: Sendable {
    /// What the entry says of its bytes.
    public let description: EntryDescription
    /// The bytes: a range of an open file, which stays as it is although the entry be replaced or removed.
    public let body: StoredBody
    /// The CRC32C of the bytes.
    public let checksum: UInt32
    /// What is known of its source, where its file alone can tell; without what only a revalidation needs.
    public internal(set) var record: SourceRecord?
    /// What its file was when the bytes were checked; nil for bytes that are in memory.
    var identity: VerifiedFiles.Identity?
    /// Whether it lies in a folder that is only read.
    public internal(set) var isSeeded = false
}

/// What a look-up that waits for nothing came to.
public enum DiskLookUp: Sendable {
    /// Found.
    case hit(DiskHit)
    /// There is no such entry.
    case miss
    /// It takes the disk to tell: ask again by the look-up that waits.
    case wouldBlock
}

/// What asking for an entry with its source's record came to.
public enum DiskAnswer: Sendable {
    /// Both, from one file.
    case hit(DiskHit)
    /// That is not enough to tell: neither yes nor no.
    case unknown
    /// It takes the disk to tell: ask again by the call that waits.
    case wouldBlock
}
