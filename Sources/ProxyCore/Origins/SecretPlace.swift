// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Where a secret is; a file is read anew each time.
package enum SecretPlace: Sendable, Hashable {
    /// In memory.
    case text(Secret)
    /// In a file, without one final line end.
    case file(String)

    /// The size of the largest secret file.
    private static let maxBytes = ByteCount.kibibytes(64)

    /// Returns the secret, or throws why it can't be read; the reason names the file, never its content. Blocking.
    package func read() throws(OriginRuleError.Reason) -> Secret {
        let path: String
        switch self {
        case .text(let secret): return secret
        case .file(let name): path = name
        }
        let bytes = try SecretReader.contents(of: path, maxBytes: Self.maxBytes)
        guard !bytes.isEmpty else { throw OriginRuleError.Reason("\(path) is empty") }
        var content = bytes[...]
        if content.last == UInt8(ascii: "\n") { content.removeLast() }
        if content.last == UInt8(ascii: "\r") { content.removeLast() }
        guard !content.isEmpty, let text = String(validating: content, as: UTF8.self) else {
            throw OriginRuleError.Reason("\(path) holds no text")
        }
        return Secret(text)
    }
}
