// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Reads the texts that the configuration refers to.
package struct SecretReader: Sendable {
    /// The size of the largest secret file.
    private static let maxBytes = ByteCount.kibibytes(64)

    private let credentialsDirectory: String?
    /// Whether secrets are not read.
    let isChecking: Bool
    /// Whether credentials are not read.
    private let skipsCredentials: Bool

    /// Reads files, and credentials below `credentialsDirectory` (systemd's `$CREDENTIALS_DIRECTORY`).
    /// - Parameter skipsCredentials: whether credentials are not read, for a check outside the unit.
    package init(credentialsDirectory: String?, skipsCredentials: Bool = false) {
        self.credentialsDirectory = credentialsDirectory
        self.skipsCredentials = skipsCredentials
        isChecking = false
    }

    private init() {
        credentialsDirectory = nil
        skipsCredentials = true
        isChecking = true
    }

    /// Reads nothing: for a check of the configuration by a user who may not read the secrets.
    package static let checking = SecretReader()

    /// Returns the text, or throws why it can't be read; the reason names the file, never its content.
    func read(_ text: ConfiguredText) throws(OriginRuleError.Reason) -> Secret {
        switch text {
        case .literal(let text): return Secret(text)
        case .file(let path): return try read(path: path)
        case .credential(let name):
            guard let path = try path(ofCredential: name) else { return Secret("unread") }
            return try read(path: path)
        }
    }

    /// The file of a credential; nil if credentials are not read.
    private func path(ofCredential name: String) throws(OriginRuleError.Reason) -> String? {
        guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
            throw OriginRuleError.Reason("\"\(name)\" is no name of a credential")
        }
        guard !skipsCredentials else { return nil }
        guard let credentialsDirectory, !credentialsDirectory.isEmpty else {
            throw OriginRuleError.Reason("there is no $CREDENTIALS_DIRECTORY to find \"\(name)\" in")
        }
        return credentialsDirectory + "/" + name
    }

    private func read(path: String) throws(OriginRuleError.Reason) -> Secret {
        guard path.hasPrefix("/") else {
            throw OriginRuleError.Reason("\"\(path)\" is no absolute path")
        }
        guard !isChecking else { return Secret("unread") }
        let bytes = try Self.contents(of: path, maxBytes: Self.maxBytes)
        guard !bytes.isEmpty else { throw OriginRuleError.Reason("\(path) is empty") }
        var content = bytes[...]
        if content.last == UInt8(ascii: "\n") { content.removeLast() }
        if content.last == UInt8(ascii: "\r") { content.removeLast() }
        guard !content.isEmpty, let text = String(validating: content, as: UTF8.self) else {
            throw OriginRuleError.Reason("\(path) holds no text")
        }
        return Secret(text)
    }

    /// Returns the content of a regular file; reading a pipe or a device could block.
    static func contents(of path: String, maxBytes: ByteCount) throws(OriginRuleError.Reason) -> [UInt8] {
        do throws(FileIO.ReadError) {
            return try FileIO.contents(of: path, atMost: maxBytes, isRegular: true)
        } catch {
            throw OriginRuleError.Reason("\(path) can't be read: \(error)")
        }
    }
}
