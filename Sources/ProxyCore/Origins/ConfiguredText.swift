// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// A text of the configuration that may be read from elsewhere, so that the configuration need not contain
/// secrets.
///
/// JSON: `"text"`, `{"file": "/path"}` or `{"credential": "name"}`, the latter below `$CREDENTIALS_DIRECTORY`
/// (systemd's LoadCredential).
package enum ConfiguredText: Sendable, Hashable {
    /// The text itself; not a secret.
    case literal(String)
    /// The content of a file, without one final line end.
    case file(String)
    /// The content of a service credential, without one final line end.
    case credential(String)

    /// Whether the configuration contains the text itself.
    package var isLiteral: Bool {
        if case .literal = self { return true }
        return false
    }
}

extension ConfiguredText: SettingValue {
    /// The text or the reference, never the text that it refers to.
    package var json: JSONValue {
        switch self {
        case .literal(let text): .string(text)
        case .file(let path): ["file": path].json
        case .credential(let name): ["credential": name].json
        }
    }

    /// Reads a text, or an object with the member `file` or `credential`.
    package init(json: JSONValue) throws(SettingMismatch) {
        if case .string(let text) = json {
            self = .literal(text)
            return
        }
        let members = try [String: String](json: json)
        switch (members.count, members["file"], members["credential"]) {
        case (1, let path?, nil): self = .file(path)
        case (1, nil, let name?): self = .credential(name)
        default: throw SettingMismatch("expected either file or credential")
        }
    }
}
