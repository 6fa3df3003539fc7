// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HTTPServer

/// Where the admin listener listens: one element of `admin.listen`.
enum AdminEndpoint: Equatable {
    /// An address that the operator chose; the daemon does not start without it.
    case configured(HTTPServer.Address)
    /// The first of these sockets that can be created; none if no folder is writable.
    case automatic([HTTPServer.Address])

    /// The places of `admin.listen`.
    ///
    /// `auto` is a socket in systemd's runtime folder, else beside the disk tier, which only one daemon uses
    /// at a time, else in the user's runtime folder. Never in a folder that other users may write to: they
    /// could replace it by a socket of their own.
    static func endpoints(
        _ listen: [String], cacheDirectory: String,
        environment: [String: String] = HostProcess.environment
    ) throws(HTTPServer.Address.ParseError) -> [AdminEndpoint] {
        var endpoints: [AdminEndpoint] = []
        for text in listen {
            guard text != "auto" else {
                endpoints.append(.automatic(sockets(cacheDirectory: cacheDirectory, environment)))
                continue
            }
            endpoints.append(.configured(try HTTPServer.Address(parsing: text)))
        }
        return endpoints
    }

    /// The maximum length of a socket's path, in bytes (unix(7)).
    private static let maxPathBytes = 107

    /// The sockets that `auto` may mean, in order of preference.
    private static func sockets(
        cacheDirectory: String, _ environment: [String: String]
    ) -> [HTTPServer.Address] {
        // systemd may name several folders, separated by colons; the daemon uses the first.
        let runtime = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first.map(String.init)
        let user = environment["XDG_RUNTIME_DIR"].flatMap { isOurs($0) ? $0 : nil }
        var paths = [runtime, cacheDirectory].compactMap(\.self).map { "\($0)/admin.sock" }
        if let user { paths.append("\(user)/imageproxyd-admin.sock") }
        // A path too long for a socket can't be used.
        return paths.filter { $0.utf8.count <= maxPathBytes }.map { .unix(path: $0) }
    }

    /// Whether a folder belongs to the daemon's user alone (XDG Base Directory Specification).
    private static func isOurs(_ folder: String) -> Bool {
        var facts = stat()
        guard folder.hasPrefix("/"), unsafe lstat(folder, &facts) == 0 else { return false }
        return facts.st_mode & S_IFMT == S_IFDIR && facts.st_uid == geteuid() && facts.st_mode & 0o077 == 0
    }
}
