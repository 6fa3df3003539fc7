// SPDX-License-Identifier: Apache-2.0

/// A client that has been accepted, and belongs to no loop yet.
struct AcceptedSocket: Sendable {
    /// Its socket, which a loop must adopt or close.
    var socket: CInt
    let peer: PeerAddress
    /// Whether its descriptor is one that is left to libraries, or comes from the reserve, because no other
    /// was free.
    var isWithoutDescriptor: Bool
    /// The number of loops that have been tried.
    var loopsTried = 0
}
