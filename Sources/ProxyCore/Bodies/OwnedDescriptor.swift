// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file descriptor with one owner: closed when the last reference goes.
///
/// Shared by reference, because a descriptor may serve several answers at once; every read names its own offset.
public final class OwnedDescriptor: Sendable {
    /// The descriptor's number; valid as long as this object lives.
    public let raw: CInt
    private let files: BodyFiles?

    /// Takes ownership of `raw`, which must be open and owned by nobody else.
    /// - Parameter files: where it has been counted in, and is counted out at its end.
    public init(owning raw: CInt, countedBy files: BodyFiles? = nil) {
        self.raw = raw
        self.files = files
    }

    deinit {
        close(raw)
        files?.leave()
    }
}
