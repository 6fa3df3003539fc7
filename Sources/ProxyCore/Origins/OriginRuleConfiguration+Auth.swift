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
        /// Such as `eu-central-1`; empty for the bucket's, or the environment's.
        package var region = ""
        /// Such as `s3`.
        package var service = "s3"
        /// The key's name.
        package var accessKey: ConfiguredText?
        package var secretKey: ConfiguredText?
        /// What goes with a temporary key.
        package var sessionToken: ConfiguredText?
        /// A role that a token of the platform proves.
        package var webIdentity: WebIdentity?
        /// The keys of the container, of its platform's service.
        package var container: Container?
        /// The keys of the virtual machine's role, of its metadata service.
        package var instanceMetadata: InstanceMetadata?

        /// Creates credentials that the environment describes.
        package init() {}
    }

    /// A role, and the file with the token that proves it.
    package struct WebIdentity: SettingObject {
        package var roleARN: String?
        var tokenFile: String?
        package var sessionName: String?
        package var endpoint: String?

        /// Creates one that the environment describes.
        package init() {}

        package static let settings = SettingTable<Self>("AssumeRoleWithWebIdentity.") {
            Setting("roleARN", \.roleARN, "The role; `AWS_ROLE_ARN` if omitted.")
            Setting(
                "tokenFile", \.tokenFile,
                "The file that the platform renews; `AWS_WEB_IDENTITY_TOKEN_FILE` if omitted.")
            Setting("sessionName", \.sessionName, "`AWS_ROLE_SESSION_NAME`, or `imageproxyd`, if omitted.")
            Setting(
                "endpoint", \.endpoint,
                "The URL of STS; `AWS_ENDPOINT_URL_STS`, or that of the region, if omitted.")
        }
    }

    /// The service that gives a container its keys.
    package struct Container: SettingObject {
        package var url: String?
        var tokenFile: String?

        /// Creates one that the environment describes.
        package init() {}

        package static let settings = SettingTable<Self>("The credentials of a container.") {
            Setting(
                "url", \.url,
                """
                The service; `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or `AWS_CONTAINER_CREDENTIALS_FULL_URI` if omitted.
                """)
            Setting(
                "tokenFile", \.tokenFile,
                """
                The file with the value of `Authorization`; `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE` or
                `AWS_CONTAINER_AUTHORIZATION_TOKEN` if omitted.
                """)
        }
    }

    /// The metadata service of a virtual machine.
    package struct InstanceMetadata: SettingObject {
        package var endpoint: String?

        /// Creates one that the environment describes.
        package init() {}

        package static let settings = SettingTable<Self>("The credentials of a virtual machine.") {
            Setting(
                "endpoint", \.endpoint,
                "The service; `AWS_EC2_METADATA_SERVICE_ENDPOINT`, or `http://169.254.169.254/`, if omitted.")
        }
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
    package static let settings = SettingTable<Self>("AWS Signature Version 4.") {
        Setting("region", \.region, "Such as `eu-central-1`.")
        Setting("service", \.service, "Such as `s3`.")
        Setting("accessKey", \.accessKey, "The key's name.")
        Setting("secretKey", \.secretKey, "The key.")
        Setting("sessionToken", \.sessionToken, "What goes with a temporary key.")
        Setting("webIdentity", \.webIdentity, "A role that a token of the platform proves.")
        Setting("container", \.container, "The service that gives a container its keys.")
        Setting("instanceMetadata", \.instanceMetadata, "The metadata service of a virtual machine.")
    }
}
