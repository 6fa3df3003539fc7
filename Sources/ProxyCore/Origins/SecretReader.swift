// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Reads the texts that the configuration refers to.
package struct SecretReader: Sendable {
    private let credentialsDirectory: String?
    /// The variables that AWS' tools read.
    private let environment: [String: String]
    /// Whether secrets are not read.
    let isChecking: Bool
    /// Whether credentials are not read.
    private let skipsCredentials: Bool

    /// Reads files, and credentials below `credentialsDirectory` (systemd's `$CREDENTIALS_DIRECTORY`).
    /// - Parameters:
    ///   - credentialsDirectory: nil where there is none.
    ///   - environment: what AWS' tools would read from it.
    ///   - skipsCredentials: whether credentials are not read, for a check outside the unit.
    package init(
        credentialsDirectory: String?, environment: [String: String] = [:], skipsCredentials: Bool = false
    ) {
        self.credentialsDirectory = credentialsDirectory
        self.environment = environment
        self.skipsCredentials = skipsCredentials
        isChecking = false
    }

    private init() {
        credentialsDirectory = nil
        environment = [:]
        skipsCredentials = true
        isChecking = true
    }

    /// Reads nothing: for a check of the configuration by a user who may not read the secrets.
    package static let checking = SecretReader()

    /// The value of a variable; nil if it is empty.
    func variable(_ name: String) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the text, or throws why it can't be read; the reason names the file, never its content.
    func read(_ text: ConfiguredText) throws(OriginRuleError.Reason) -> Secret {
        try place(of: text).read()
    }

    /// Returns where the text is, after it has been read once.
    func place(of text: ConfiguredText) throws(OriginRuleError.Reason) -> SecretPlace {
        switch text {
        case .literal(let text): return .text(Secret(text))
        case .file(let path): return try place(at: path)
        case .credential(let name):
            guard let path = try path(ofCredential: name) else { return .text(Secret("unread")) }
            return try place(at: path)
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

    /// The place of a file, after it has been read once.
    func place(at path: String) throws(OriginRuleError.Reason) -> SecretPlace {
        guard path.hasPrefix("/") else {
            throw OriginRuleError.Reason("\"\(path)\" is no absolute path")
        }
        guard !isChecking else { return .text(Secret("unread")) }
        _ = try SecretPlace.file(path).read()
        return .file(path)
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
