// SPDX-License-Identifier: Apache-2.0

/// Settings whose invalid values are not shown: they contain secrets, or secrets are pasted there by mistake.
enum SecretSettings {
    private static let paths = ["security.keys", "admin.token", "fetch.headers", "fetch.proxy"]

    /// Whether the value at a path, or around it, must not be shown.
    static func contains(_ path: String) -> Bool {
        paths.contains { path == $0 || path.hasPrefix($0 + ".") }
    }
}
