// SPDX-License-Identifier: Apache-2.0

/// Where a body goes that has outgrown its buffer: an unnamed file of the disk tier, or a memfd.
public struct SpillFile: Sendable {
    /// The file, open for reading and writing; nobody else writes into it.
    public let file: OwnedDescriptor
    /// Where the body begins; what lies before is the owner's (the disk tier keeps room for its header).
    public let offset: Int64

    /// Names a file and the body's place in it.
    public init(file: OwnedDescriptor, offset: Int64) {
        self.file = file
        self.offset = offset
    }
}
