// SPDX-License-Identifier: Apache-2.0

/// Settings whose values are not shown when they are refused: secrets stand there, or are pasted there by mistake.
enum SecretSettings {
    private static let paths = ["security.keys", "admin.token", "fetch.headers", "fetch.proxy"]

    /// Whether the value at a path, or around it, is not to be shown.
    static func contains(_ path: String) -> Bool {
        paths.contains { path == $0 || path.hasPrefix($0 + ".") }
    }
}
