// SPDX-License-Identifier: Apache-2.0

import CLinux
internal import Glibc
import Primitives
import Sharing

/// Settings that contain secrets, or where secrets are pasted by mistake.
enum SecretSettings {
    /// A secret has at least so many bytes: a shorter text is none.
    private static let leastBytes = 16

    /// Whether the value at a path, or around it, must not be shown.
    static func contains(_ path: String) -> Bool {
        ProxyConfiguration.settings.rows.contains {
            $0.isSecret && (path == $0.path || path.hasPrefix($0.path + "."))
        }
    }

    /// Whether a text is certainly the place of a secret, and not the secret: a credential, a file that
    /// exists, a path whose first folder exists, or one that is too short for a secret.
    static func isPlace(_ text: String) -> Bool {
        guard !text.hasPrefix("credential:"), !isKind(S_IFREG, text) else { return true }
        guard !text.hasPrefix("/") || text.utf8.count >= leastBytes else { return true }
        guard let slash = text.dropFirst().firstIndex(of: "/") else { return false }
        return isKind(S_IFDIR, String(text[..<slash]))
    }

    private static func isKind(_ kind: mode_t, _ path: String) -> Bool {
        var facts = stat()
        return unsafe stat(path, &facts) == 0 && facts.st_mode & S_IFMT == kind
    }
}

extension ProxyConfiguration {
    /// The settings as they are printed: without keys and tokens that stand in place of their files' paths.
    var withoutSecrets: ProxyConfiguration {
        var shown = self
        shown.security.keys = security.keys.map { SecretSettings.isPlace($0) ? $0 : "***" }
        if !admin.token.isEmpty, !SecretSettings.isPlace(admin.token) { shown.admin.token = "***" }
        if !cluster.key.isEmpty, !SecretSettings.isPlace(cluster.key) { shown.cluster.key = "***" }
        shown.dialects = dialects.map(\.withoutSecrets)
        return shown
    }
}
