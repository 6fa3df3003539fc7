// SPDX-License-Identifier: Apache-2.0

/// A client that has been accepted, and has no place yet.
struct AcceptedSocket: Sendable {
    /// Its socket, which a loop has to adopt or to close.
    var socket: CInt
    let peer: PeerAddress
    /// Whether there was no descriptor for it but one that is left to libraries, or was kept back.
    var isWithoutDescriptor: Bool
    /// Loops that have looked for a place.
    var loopsAsked = 0
}
