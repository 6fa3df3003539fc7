// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Files that have passed their checksum since they last changed: a table of fixed size that may forget, and
/// is never wrong.
///
/// Eight bytes a file. A file whose slot is overwritten by another is checked again, which only costs time.
final class VerifiedFiles: Sendable {
    /// What changes whenever a file's bytes may have: its inode, the time its inode changed, its size.
    struct Identity: Hashable {
        /// The inode's number.
        let inode: UInt64
        /// The time of the inode's last change, in nanoseconds since 1970.
        let changed: Int64
        /// The size in bytes; below 0 for anything but a file.
        let size: Int64

        /// Well-mixed bits; never 0.
        fileprivate var mark: UInt64 { UInt64(truncatingIfNeeded: hashValue) | 1 }
    }

    private let marks: Mutex<[UInt64]>

    /// Creates a table of `capacity` files.
    init(capacity: Int) {
        marks = Mutex([UInt64](repeating: 0, count: max(1, capacity)))
    }

    /// Hot path: whether the file has passed.
    func contains(_ identity: Identity) -> Bool {
        let mark = identity.mark
        return marks.withLock { $0[Self.place(of: mark, in: $0)] == mark }
    }

    /// Records that the file has passed.
    func insert(_ identity: Identity) {
        let mark = identity.mark
        marks.withLock { $0[Self.place(of: mark, in: $0)] = mark }
    }

    private static func place(of mark: UInt64, in marks: [UInt64]) -> Int {
        Int(truncatingIfNeeded: mark.multipliedFullWidth(by: UInt64(marks.count)).high)
    }
}
