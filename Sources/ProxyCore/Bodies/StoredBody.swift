// SPDX-License-Identifier: Apache-2.0

/// The bytes of a representation: in memory, or in a range of an open file.
package enum StoredBody: Sendable {
    /// All bytes in memory.
    case bytes([UInt8])
    /// `length` bytes of `file` from `offset`; these bytes of the file do not change.
    case file(OwnedDescriptor, offset: Int64, length: Int64)

    /// The number of bytes.
    package var count: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .file(_, _, let length): Int(length)
        }
    }

    /// Whether the bytes take memory as long as they are held.
    package var isInMemory: Bool {
        switch self {
        case .bytes: true
        case .file(let file, _, _): file.isMemory
        }
    }
}
