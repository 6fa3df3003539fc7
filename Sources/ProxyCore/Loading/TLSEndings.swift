// SPDX-License-Identifier: Apache-2.0

/// The TLS sessions that the peer has closed in order (close_notify) since the last `forget`.
///
/// A body that ends with its connection is complete only after that: an attacker who cuts a connection can't
/// send it (RFC 9112 §9.8). Confined to the loader's thread.
final class TLSEndings {
    private var sessions: Set<UInt> = []

    /// Stores a session that was closed in order.
    func note(_ session: UInt) {
        sessions.insert(session)
    }

    /// Whether a session was closed in order.
    func contains(_ session: UInt) -> Bool { sessions.contains(session) }

    /// Removes all sessions: the address of a freed session may be used again.
    func forget() {
        sessions.removeAll(keepingCapacity: true)
    }
}
