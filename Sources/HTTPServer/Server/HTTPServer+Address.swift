// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

extension HTTPServer {
    /// Where to listen.
    public enum Address: Sendable, Hashable, CustomStringConvertible {
        /// An IPv4 or IPv6 address (without brackets) and a port; 0 lets the kernel choose.
        case tcp(host: String, port: UInt16)
        /// A path in the file system.
        case unix(path: String)

        /// The text is not an address.
        public struct ParseError: Error, Sendable, Hashable {
            /// The text.
            public let text: String
        }

        /// Parses `127.0.0.1:8080`, `[::1]:8080` or `unix:/path`.
        public init(parsing text: String) throws(ParseError) {
            if text.hasPrefix("unix:") {
                let path = String(text.dropFirst(5))
                guard path.hasPrefix("/"), path.utf8.count < 108 else { throw ParseError(text: text) }
                self = .unix(path: path)
                return
            }
            guard let colon = text.lastIndex(of: ":"),
                text[colon...].utf8.dropFirst().allSatisfy({ Octet.digit($0) != nil }),
                let port = UInt16(text[colon...].dropFirst())
            else { throw ParseError(text: text) }
            var host = String(text[..<colon])
            if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
            self = .tcp(host: host, port: port)
            // Ignored: why; the error names the text.
            guard (try? socketAddress()) != nil else { throw ParseError(text: text) }
        }

        /// Whether only this machine can reach it.
        public var isLocal: Bool {
            switch self {
            case .unix: true
            case .tcp(let host, _): host.hasPrefix("127.") || host == "::1"
            }
        }

        /// The address in the syntax of the configuration.
        public var description: String {
            switch self {
            case .unix(let path): "unix:\(path)"
            case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            }
        }
    }
}

extension HTTPServer.Address {
    /// Connects a blocking socket to it; the caller closes that.
    public func connected() throws(SocketError) -> CInt {
        let (storage, length) = try socketAddress()
        let type = LINUX_SOCK_STREAM | LINUX_SOCK_CLOEXEC
        let descriptor = try check("socket", socket(CInt(storage.ss_family), type, 0))
        let result = unsafe withUnsafeBytes(of: storage) { bytes in
            unsafe connect(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), length)
        }
        guard result == 0 else {
            let code = errno
            close(descriptor)
            throw SocketError(call: "connect", code: code)
        }
        return descriptor
    }

    /// Connections that may wait to be accepted.
    private static let backlog: CInt = 4_096

    /// Creates the listening socket; returns it with the address as bound.
    func bindAndListen() throws(SocketError) -> (CInt, HTTPServer.Address) {
        let (storage, length) = try socketAddress()
        let type = LINUX_SOCK_STREAM | LINUX_SOCK_NONBLOCK | LINUX_SOCK_CLOEXEC
        let descriptor = try check("socket", socket(CInt(storage.ss_family), type, 0))
        do throws(SocketError) {
            if case .unix(let path) = self { removeStale(path) }
            var on: CInt = 1
            _ = unsafe setsockopt(
                descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size))
            let result = unsafe withUnsafeBytes(of: storage) { bytes in
                unsafe bind(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), length)
            }
            _ = try check("bind", result)
            _ = try check("listen", listen(descriptor, Self.backlog))
            return (descriptor, try bound(descriptor))
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Removes a socket without a listener, which would block the path; another file at the path is not
    /// removed.
    private func removeStale(_ path: String) {
        var facts = stat()
        guard unsafe lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFSOCK else { return }
        do throws(SocketError) {
            close(try connected())
        } catch {
            if error.code == ECONNREFUSED { unsafe unlink(path) }
        }
    }

    /// This address with the port that the system chose, where none was named.
    private func bound(_ descriptor: CInt) throws(SocketError) -> HTTPServer.Address {
        guard case .tcp(let host, 0) = self, case .tcp(_, let port) = try Self(ofListening: descriptor) else {
            return self
        }
        return .tcp(host: host, port: port)
    }

    fileprivate func socketAddress() throws(SocketError) -> (sockaddr_storage, socklen_t) {
        var storage = sockaddr_storage()
        switch self {
        case .unix(let path):
            storage.ss_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0[2...].copyBytes(from: path.utf8) }
            return (storage, socklen_t(2 + path.utf8.count + 1))
        case .tcp(let host, let port):
            let isIPv6 = host.contains(":")
            storage.ss_family = sa_family_t(isIPv6 ? AF_INET6 : AF_INET)
            let parsed = unsafe withUnsafeMutableBytes(of: &storage) { bytes in
                unsafe bytes[2] = UInt8(port >> 8)
                unsafe bytes[3] = UInt8(port & 255)
                return unsafe inet_pton(
                    isIPv6 ? AF_INET6 : AF_INET, host, bytes.baseAddress.map { unsafe $0 + (isIPv6 ? 8 : 4) })
            }
            guard parsed == 1 else { throw SocketError(call: "inet_pton", code: EINVAL) }
            return (
                storage, socklen_t(isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
            )
        }
    }
}
