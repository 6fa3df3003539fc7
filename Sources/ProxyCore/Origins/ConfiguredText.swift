// SPDX-License-Identifier: Apache-2.0

/// A text of the configuration that may stand elsewhere, so that secrets need not be written into it.
///
/// JSON: `"text"`, `{"file": "/path"}` or `{"credential": "name"}`, the latter below `$CREDENTIALS_DIRECTORY` (systemd's
/// LoadCredential).
public enum ConfiguredText: Sendable, Hashable {
    /// As written; no secret.
    case literal(String)
    /// The content of a file, less one final line end.
    case file(String)
    /// The content of a credential of the service, likewise.
    case credential(String)

    /// Whether the text itself stands in the configuration.
    public var isLiteral: Bool {
        if case .literal = self { return true }
        return false
    }
}

extension ConfiguredText: Codable {
    /// Reads a text, or an object with the member `file` or `credential`.
    public init(from decoder: any Decoder) throws {
        // Lost: that it is no text; the object's own complaint then counts.
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

    /// Writes the reference, never what it refers to.
    public func encode(to encoder: any Encoder) throws {
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
