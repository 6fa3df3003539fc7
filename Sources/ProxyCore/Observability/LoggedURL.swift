// SPDX-License-Identifier: Apache-2.0

import Primitives
package import URLs

/// What the log says of a source's URL, by `log.url`.
package struct LoggedURL: Sendable, Hashable {
    /// The host; empty with `none`.
    package var host = ""
    /// The port; 0 with `none`.
    package var port = 0
    /// The URL with `path` and `full`, else empty; at most `maxBytes`, of which the last three show that it was cut.
    package var text = ""

    /// Most bytes of a URL.
    package static let maxBytes = 1_024
    /// What stands in place of a value that may be a secret.
    static let blank = "***"

    /// Of a source, or of none.
    package init(_ source: SourceURL?, as detail: LogConfiguration.URLDetail) {
        guard let source, detail != .none else { return }
        (host, port) = (source.host, source.port)
        switch detail {
        case .none, .host: return
        case .path: text = Self.cut(Self.withoutQuery(source))
        case .full:
            let query = source.query.map { "?" + Self.redacted($0) } ?? ""
            text = Self.cut(Self.withoutQuery(source) + query)
        }
    }

    private static func withoutQuery(_ source: SourceURL) -> String {
        // A source's URL never has a user name or a password: such a one is refused before.
        let queryLength = source.query.map { $0.utf8.count + 1 } ?? 0
        return String(decoding: source.normalized.utf8.dropLast(queryLength), as: UTF8.self)
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > maxBytes else { return text }
        return String(decoding: text.utf8.prefix(maxBytes - 3), as: UTF8.self) + "..."
    }

    // MARK: - Secrets

    /// A query with `***` in place of each value that may be a secret: by its name, or by its look.
    static func redacted(_ query: String) -> String {
        var result = ""
        var rest = Substring(query).utf8
        while true {
            let pair = rest.prefix { $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: ";") }
            result += redacted(pair: Substring(pair))
            rest = rest[pair.endIndex...]
            guard let separator = rest.popFirst() else { return result }
            result.unicodeScalars.append(UnicodeScalar(separator))
        }
    }

    private static func redacted(pair: Substring) -> String {
        guard let mark = pair.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            return looksSecret(pair) ? blank : String(pair)
        }
        let (name, value) = (pair[..<mark], pair[pair.index(after: mark)...])
        guard !value.isEmpty, mayBeSecret(name: name) || looksSecret(value) else { return String(pair) }
        return "\(name)=\(blank)"
    }

    /// Names that say so: these, those that begin with `x-amz-` or `x-goog-`, and those that have one of `parts` in them.
    private static let names: Set<String> = [
        "s", "k", "pw", "pin", "sid", "sas", "code", "hash", "hmac", "mac", "otp", "ticket",
    ]
    private static let parts = [
        "sig", "token", "key", "secret", "pass", "pwd", "auth", "cred", "session", "jwt", "policy",
        "accessid",
    ]

    private static func mayBeSecret(name: Substring) -> Bool {
        // An escaped letter does not hide a name.
        let name = String(decoding: percentDecoded(name.utf8).bytes, as: UTF8.self).lowercased()
        return names.contains(name) || name.hasPrefix("x-amz-") || name.hasPrefix("x-goog-")
            || parts.contains { name.contains($0) }
    }

    /// From so many letters and digits on a value may be a key or token, whatever its name is.
    private static let shortestSecret = 32

    /// Whether a value has a run of at least 32 of the characters that keys and tokens are written in, digits and letters
    /// among them.
    private static func looksSecret(_ value: Substring) -> Bool {
        var (count, hasDigit, hasLetter) = (0, false, false)
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): hasDigit = true
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
                hasLetter = true
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "%"),
                UInt8(ascii: "~"):
                break
            default:
                (count, hasDigit, hasLetter) = (0, false, false)
                continue
            }
            count += 1
            if count >= shortestSecret, hasDigit, hasLetter { return true }
        }
        return false
    }
}
