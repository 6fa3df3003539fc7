// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// A port of a loopback address without a listener, unless the test starts one: no other program gets it
/// while this exists.
///
/// It is bound with SO_REUSEADDR and does not listen, so that a program that sets that, too, as servers do,
/// can bind it and listen (socket(7)); the kernel gives it to no program that requests any port. Connections
/// are refused until then.
public final class HeldPort: Sendable {
    private let descriptor: CInt
    private let address: String
    /// Its number.
    public let port: UInt16

    /// Throws when the kernel has no free port.
    public init(address: String = "127.0.0.1") throws {
        (descriptor, port) = try OriginSocket.bind(to: address, port: 0)
        self.address = address
    }

    /// A URL there.
    public func url(_ path: String) -> String { "http://\(address):\(port)\(path)" }

    deinit { close(descriptor) }
}
