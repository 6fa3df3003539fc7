// SPDX-License-Identifier: Apache-2.0

/// A file of the disk tier that nobody can find yet: write the body into it from `bodyOffset` on, then commit it.
///
/// It has no name, so whoever drops it without committing leaves nothing behind, not even by a crash.
public final class StagedEntry: Sendable {
    /// The file, open for reading and writing.
    public let file: OwnedDescriptor
    /// Where the body begins; what lies before is kept for the header.
    public let bodyOffset: Int64
    /// The kind of entry it will be.
    public let kind: EntryKind
    /// The canonical text behind the key it will have.
    public let keyText: String

    init(file: OwnedDescriptor, bodyOffset: Int64, kind: EntryKind, keyText: String) {
        self.file = file
        self.bodyOffset = bodyOffset
        self.kind = kind
        self.keyText = keyText
    }

    /// The same file as the place where a growing body goes.
    public var spill: SpillFile { SpillFile(file: file, offset: bodyOffset) }
}
