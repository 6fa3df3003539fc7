// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file descriptor with one owner: closed with the last reference.
///
/// Shared by reference, because several answers may use a descriptor at once; every read names its own
/// offset.
package final class OwnedDescriptor: Sendable {
    /// The descriptor's number; valid as long as this object exists.
    package let raw: CInt
    private let files: BodyFiles?
    /// Whether the file is memory: what is in it takes as much as on the heap.
    package let isMemory: Bool

    /// Takes ownership of `raw`, which must be open and have no other owner.
    /// - Parameters:
    ///   - raw: an open descriptor without another owner.
    ///   - files: the counter that has counted it and counts its closing.
    ///   - isMemory: whether it is of a file in memory (memfd_create(2)).
    package init(owning raw: CInt, countedBy files: BodyFiles? = nil, isMemory: Bool = false) {
        self.raw = raw
        self.isMemory = isMemory
        self.files = files
    }

    deinit {
        close(raw)
        files?.leave()
    }
}
