// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Connects to sockets in the file system (unix(7)).
package enum UnixSocket {
    /// Connects a socket to a path; false with `errno` if that fails.
    package static func connect(_ descriptor: Int32, to path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
            errno = ENAMETOOLONG
            return false
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        // Safe because the address is valid during the call and its size is the one given.
        return unsafe withUnsafeBytes(of: address) { bytes in
            guard let start = bytes.baseAddress else { return false }
            let pointer = unsafe start.assumingMemoryBound(to: sockaddr.self)
            return unsafe Glibc.connect(descriptor, pointer, socklen_t(bytes.count)) == 0
        }
    }
}
