// SPDX-License-Identifier: Apache-2.0

package import Primitives

extension OriginRuleConfiguration {
    /// How the daemon authenticates.
    package enum Auth: Sendable, Hashable {
        /// RFC 7617.
        case basic(user: String, password: ConfiguredText)
        /// RFC 6750.
        case bearer(ConfiguredText)
        /// AWS Signature Version 4, for private buckets.
        case awsSigV4(AWSCredentials)
    }

    /// The parameters of AWS Signature Version 4.
    package struct AWSCredentials: Sendable, Hashable {
        /// Such as `eu-central-1`.
        package var region: String
        /// Such as `s3`.
        package var service: String
        /// The key's name.
        package var accessKey: ConfiguredText
        /// The key.
        package var secretKey: ConfiguredText
    }
}

// Objects whose member `type` says which others they have.
extension OriginRuleConfiguration.Auth: SettingValue {
    private struct Basic: SettingObject {
        var user = ""
        var password = ConfiguredText.literal("")

        static let settings = SettingTable<Self>("Basic authentication.") {
            Setting("user", \.user, isRequired: true, "The user.")
            Setting("password", \.password, isRequired: true, "The password.")
        }
    }

    private struct Bearer: SettingObject {
        var token = ConfiguredText.literal("")

        static let settings = SettingTable<Self>("A bearer token.") {
            Setting("token", \.token, isRequired: true, "The token.")
        }
    }

    private enum Kind: String, SettingValue, CaseIterable {
        case basic, bearer, awsSigV4
    }

    /// The references, never the secrets.
    package var json: JSONValue {
        switch self {
        case .basic(let user, let password): Basic(user: user, password: password).json.typed(Kind.basic)
        case .bearer(let token): Bearer(token: token).json.typed(Kind.bearer)
        case .awsSigV4(let credentials): credentials.json.typed(Kind.awsSigV4)
        }
    }

    /// Reads the members that belong to the object's type.
    package init(json: JSONValue) throws(SettingMismatch) {
        guard case .object(let members) = json else { throw SettingMismatch("expected an object") }
        let rest = JSONValue.object(members.filter { $0.name != "type" })
        let kinds = try SettingMismatch.collect([(name: "type", part: json["type"] ?? .null)]) {
            (type) throws(SettingMismatch) in try Kind(json: type)
        }
        switch kinds[0] {
        case .basic:
            let basic = try Basic(json: rest)
            self = .basic(user: basic.user, password: basic.password)
        case .bearer: self = .bearer(try Bearer(json: rest).token)
        case .awsSigV4: self = .awsSigV4(try OriginRuleConfiguration.AWSCredentials(json: rest))
        }
    }
}

extension JSONValue {
    /// The object with its type in front.
    fileprivate func typed(_ kind: some SettingValue) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object([Member(name: "type", value: kind.json)] + members)
    }
}

extension OriginRuleConfiguration.AWSCredentials: SettingObject {
    /// Creates credentials without a key.
    package init() {
        self.init(region: "", service: "s3", accessKey: .literal(""), secretKey: .literal(""))
    }

    package static let settings = SettingTable<Self>("AWS Signature Version 4.") {
        Setting("region", \.region, isRequired: true, "Such as `eu-central-1`.")
        Setting("service", \.service, "Such as `s3`.")
        Setting("accessKey", \.accessKey, isRequired: true, "The key's name.")
        Setting("secretKey", \.secretKey, isRequired: true, "The key.")
    }
}
