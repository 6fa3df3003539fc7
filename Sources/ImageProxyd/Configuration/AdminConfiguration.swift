// SPDX-License-Identifier: Apache-2.0

/// The second listener, for operators: metrics, purging, what is cached and what failed. Configuration: `admin`.
struct AdminSection: Sendable, Hashable, Codable {
    /// Addresses as in `listen`; `auto` (the default) is `admin.sock` in `$RUNTIME_DIRECTORY`, else in the cache folder, else
    /// `imageproxyd-admin.sock` in `$XDG_RUNTIME_DIR`, else none. Empty: none.
    var listen = ["auto"]
    /// Where the bearer token is: a file's path, or `credential:NAME`. Default none, which is allowed on loopback and
    /// unix sockets only.
    var token = ""
}
