// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A system call on a socket failed.
public struct SocketError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The call's name.
    public let call: String
    /// errno.
    public let code: CInt

    /// The call and the system's description of the error.
    public var description: String {
        // Safe because strerror(3) returns a string for every number.
        unsafe "\(call): \(String(cString: strerror(code)))"
    }
}

/// Repeats a call that a signal has interrupted (EINTR, signal(7)).
@inline(__always)
func retryingOnInterrupt<Count: SignedInteger>(_ call: () -> Count) -> Count {
    while true {
        let count = call()
        guard count < 0, errno == EINTR else { return count }
    }
}

/// Returns a call's result, or throws with errno if it is negative.
func check(_ call: StaticString, _ result: CInt) throws(SocketError) -> CInt {
    guard result >= 0 else { throw SocketError(call: "\(call)", code: errno) }
    return result
}
