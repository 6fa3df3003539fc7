// SPDX-License-Identifier: Apache-2.0

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

extension ConfiguredText: Codable {
    /// Reads a text, or an object with the member `file` or `credential`.
    package init(from decoder: any Decoder) throws {
        // The error that it is no text is dropped; the object's own error is reported.
        if let container = try? decoder.singleValueContainer(), let text = try? container.decode(String.self)
        {
            self = .literal(text)
            return
        }
        let members = try StrictMembers(decoder, knowing: ["file", "credential"])
        let file: String? = try members.value("file"), credential: String? = try members.value("credential")
        switch (file, credential) {
        case (let file?, nil): self = .file(file)
        case (nil, let credential?): self = .credential(credential)
        default: throw members.complaint("file", "expected either file or credential")
        }
    }

    /// Encodes the reference, never the text that it refers to.
    package func encode(to encoder: any Encoder) throws {
        if case .literal(let text) = self {
            var container = encoder.singleValueContainer()
            return try container.encode(text)
        }
        var members = encoder.container(keyedBy: AnyKey.self)
        switch self {
        case .literal: return
        case .file(let path): try members.encode(path, forKey: AnyKey("file"))
        case .credential(let name): try members.encode(name, forKey: AnyKey("credential"))
        }
    }
}
