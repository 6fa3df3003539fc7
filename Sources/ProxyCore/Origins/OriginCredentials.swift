// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The rule's additions to requests that authenticate the daemon: fields and a signature. Only the rule's
/// origin gets them, and no log does.
package struct OriginCredentials: Sendable {
    /// A field that is sent unchanged.
    package struct Field: Sendable {
        package let name: String
        package let value: Secret
    }

    /// The parameters of libcurl's request signature.
    package struct Signature: Sendable {
        /// The providers, region and service, as libcurl expects them.
        package let scope: String
        /// Where the keys come from.
        package let keys: AWSKeySource
    }

    /// The fields of the rule, including its `Authorization`.
    package let fields: [Field]
    /// AWS Signature Version 4, if the rule requires it.
    package let signature: Signature?

    init(
        _ rule: OriginRuleConfiguration, secrets: SecretReader
    ) throws(OriginRuleError.Reason) {
        var fields: [Field] = []
        for (name, text) in rule.requestHeaders.sorted(by: { $0.key < $1.key }) {
            guard FieldSyntax.mayBeConfigured(name) else {
                throw OriginRuleError.Reason("\"\(name)\" is no field's name, or one of the daemon's own")
            }
            fields.append(Field(name: name, value: try Self.value(text, of: name, secrets)))
        }
        do throws(OriginRuleError.Reason) {
            try Self.add(rule.auth, secrets, to: &fields)
            signature = try Self.signature(rule, secrets)
        } catch {
            throw .init(error.text, at: error.key.map { "auth." + $0 } ?? "auth")
        }
        self.fields = fields
    }

    /// Adds the fields that authenticate.
    private static func add(
        _ auth: OriginRuleConfiguration.Auth?, _ secrets: SecretReader, to fields: inout [Field]
    ) throws(OriginRuleError.Reason) {
        guard auth == nil || !fields.contains(where: { $0.name.lowercased() == "authorization" }) else {
            throw OriginRuleError.Reason("either a field Authorization or auth, not both")
        }
        if let authorization = try authorization(auth, secrets) {
            fields.append(Field(name: "Authorization", value: authorization))
        }
        if case .awsSigV4(let credentials) = auth, credentials.service == "s3" {
            fields.append(Field(name: "x-amz-content-sha256", value: Secret(emptyHash)))
        }
    }

    /// SHA-256 of no bytes: the body of a `GET`, whose hash S3 requires as a signed field.
    private static let emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    private static func authorization(
        _ auth: OriginRuleConfiguration.Auth?, _ secrets: SecretReader
    ) throws(OriginRuleError.Reason) -> Secret? {
        switch auth {
        case .basic(let user, let password):
            let password = try hidden(password, "password", secrets)
            guard !user.contains(":"), FieldSyntax.isValue(user) else {
                throw OriginRuleError.Reason("user must not hold a colon or control characters")
            }
            return Secret("Basic " + Base64.encode(Array("\(user):\(password.text)".utf8)))
        case .bearer(let token): return Secret("Bearer " + (try hidden(token, "token", secrets)).text)
        case .awsSigV4, nil: return nil
        }
    }

    private static func signature(
        _ rule: OriginRuleConfiguration, _ secrets: SecretReader
    ) throws(OriginRuleError.Reason) -> Signature? {
        guard case .awsSigV4(let credentials) = rule.auth else { return nil }
        // The keys of the environment and of AWS' services, and their session tokens, are not for Google.
        guard !rule.isGoogle || credentials.accessKey != nil else {
            throw .init("expected a value: a bucket of gs:// has keys of its own", at: "accessKey")
        }
        let region = try rule.region(secrets)
        for (name, text) in [("region", region), ("service", credentials.service)] {
            guard !text.isEmpty,
                text.utf8.allSatisfy({ $0 != UInt8(ascii: ":") && (0x21...0x7E).contains($0) })
            else { throw .init("expected a word without colons", at: name) }
        }
        let keys = AWSKeySettings(settings: credentials, region: region, secrets: secrets)
        return Signature(scope: "aws:amz:\(region):\(credentials.service)", keys: try keys.source())
    }

    /// A secret that the configuration must not contain itself.
    private static func hidden(
        _ text: ConfiguredText, _ name: String, _ secrets: SecretReader
    ) throws(OriginRuleError.Reason) -> Secret {
        guard !text.isLiteral else { throw OriginRuleError.Reason("\(name) \(onlyByReference)") }
        return try value(text, of: name, secrets)
    }

    /// What is wrong with a secret in the configuration.
    static let onlyByReference =
        "is read from a file or credential, never from the configuration; "
        + #"write {"file": "/path"} or {"credential": "name"}"#

    private static func value(
        _ text: ConfiguredText, of name: String, _ secrets: SecretReader
    ) throws(OriginRuleError.Reason) -> Secret {
        let value = try secrets.read(text)
        guard FieldSyntax.isValue(value.text) else {
            throw OriginRuleError.Reason("the value of \(name) holds control characters")
        }
        return value
    }
}
