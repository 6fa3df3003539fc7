// SPDX-License-Identifier: Apache-2.0

/// Where bytes are written: a place in an unnamed file of the disk tier, or in a memfd.
package struct FilePlace: Sendable {
    /// The file, open for reading and writing; it has no other writer.
    package let file: OwnedDescriptor
    /// The offset at which they begin, in bytes; those before it belong to the file's owner (the disk tier's header).
    package let offset: Int64

    /// Creates a value from a file and the body's offset in it.
    package init(file: OwnedDescriptor, offset: Int64) {
        self.file = file
        self.offset = offset
    }
}
