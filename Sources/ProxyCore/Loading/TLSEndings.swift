// SPDX-License-Identifier: Apache-2.0

/// The TLS sessions at whose other end somebody has said that no more will come (close_notify), since the last `forget`.
///
/// A body that ends with its connection is whole only then: who cuts a connection can't say so (RFC 9112 §9.8). Confined to
/// the loader's thread.
final class TLSEndings {
    private var sessions: Set<UInt> = []

    /// A session has ended in order.
    func note(_ session: UInt) {
        sessions.insert(session)
    }

    /// Whether a session has.
    func contains(_ session: UInt) -> Bool { sessions.contains(session) }

    /// Forgets all: sessions that are gone may have their names used again.
    func forget() {
        sessions.removeAll(keepingCapacity: true)
    }
}
