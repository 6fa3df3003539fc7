// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HTTPServer
import Synchronization

/// The sockets in the file system on which the admin listener listens. Safe from any thread.
final class AdminSockets: Sendable {
    private let paths = Mutex<[String]>([])

    /// Notes where the admin listener listens.
    func note(_ address: HTTPServer.Address) {
        if case .unix(let path) = address { paths.withLock { $0.append(path) } }
    }

    /// Those that were removed, for example with the folder that they were in: no client can connect to them any more.
    var removed: [String] { paths.withLock { $0 }.filter { unsafe access($0, F_OK) != 0 } }
}
