// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer

/// Where the admin listener is.
enum AdminAddress {
    /// The addresses that `admin.listen` means.
    ///
    /// `auto` is a socket in systemd's runtime folder, else beside the disk tier, which only one daemon uses at a time.
    static func addresses(
        _ listen: [String], cacheDirectory: String,
        environment: [String: String] = HostProcess.environment
    ) throws(HTTPServer.Address.ParseError) -> [HTTPServer.Address] {
        var addresses: [HTTPServer.Address] = []
        for text in listen {
            let path = socketPath(cacheDirectory: cacheDirectory, environment)
            // Nobody asked for this one: a folder too deep for a socket must not keep the daemon from serving.
            if text == "auto", path.utf8.count > maxPathBytes { continue }
            addresses.append(try HTTPServer.Address(parsing: text == "auto" ? "unix:\(path)" : text))
        }
        return addresses
    }

    /// Longest path of a socket, in bytes (unix(7)).
    private static let maxPathBytes = 107

    /// The socket that `auto` means.
    static func socketPath(
        cacheDirectory: String, _ environment: [String: String] = HostProcess.environment
    ) -> String {
        // systemd may name several folders, separated by colons; the first is ours.
        let folder = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first.map(String.init)
        return (folder ?? cacheDirectory) + "/admin.sock"
    }
}
