// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file descriptor with one owner: closed when the last reference goes.
///
/// Shared by reference, because a descriptor may serve several answers at once; every read names its own offset.
public final class OwnedDescriptor: Sendable {
    /// The descriptor's number; valid as long as this object lives.
    public let raw: CInt

    /// Takes ownership of `raw`, which must be open and owned by nobody else.
    public init(owning raw: CInt) {
        self.raw = raw
    }

    deinit {
        close(raw)
    }
}
