// SPDX-License-Identifier: Apache-2.0

package import URLs

/// Where the keys of AWS Signature Version 4 come from. Equal ones have the same keys.
package enum AWSKeySource: Sendable, Hashable {
    /// The keys themselves; files are read anew when they may have changed.
    case keys(name: SecretPlace, key: SecretPlace, sessionToken: SecretPlace?)
    /// AssumeRoleWithWebIdentity of the Security Token Service.
    case webIdentity(WebIdentity)
    /// The service of a container's platform; `authorization` is a field's value.
    case container(SourceURL, authorization: SecretPlace?)
    /// The metadata service of a virtual machine, in version 2; the URL ends in a slash.
    case instanceMetadata(SourceURL)

    /// A role, and what proves it.
    package struct WebIdentity: Sendable, Hashable {
        package let roleARN: String
        package let token: SecretPlace
        package let sessionName: String
        package let endpoint: SourceURL
    }
}

/// Reads where AWS' keys come from: the rule's members, and the variables that AWS' tools know, where these are omitted.
struct AWSKeySettings {
    let settings: OriginRuleConfiguration.AWSCredentials
    let region: String
    let secrets: SecretReader

    /// Returns the source.
    /// - Throws: which member is wrong or missing.
    func source() throws(OriginRuleError.Reason) -> AWSKeySource {
        let hasKeys =
            settings.accessKey != nil || settings.secretKey != nil || settings.sessionToken != nil
        let given = [
            ("accessKey", hasKeys), ("webIdentity", settings.webIdentity != nil),
            ("container", settings.container != nil),
            ("instanceMetadata", settings.instanceMetadata != nil),
        ].filter(\.1).map(\.0)
        guard given.count < 2 else {
            throw .init("\(given[0]) or \(given[1]), not both: keys have one source", at: given[1])
        }
        switch given.first {
        case "accessKey": return try keys()
        case "webIdentity": return try webIdentity(settings.webIdentity ?? .init())
        case "container": return try container(settings.container ?? .init())
        case "instanceMetadata": return try instanceMetadata(settings.instanceMetadata ?? .init())
        default: return try environmentSource()
        }
    }

    /// The first that the environment describes, in the order of AWS' tools. The metadata service is asked only where a rule
    /// says so.
    private func environmentSource() throws(OriginRuleError.Reason) -> AWSKeySource {
        if let name = secrets.variable("AWS_ACCESS_KEY_ID"),
            let key = secrets.variable("AWS_SECRET_ACCESS_KEY")
        {
            return .keys(
                name: .text(try secret(name, "AWS_ACCESS_KEY_ID")),
                key: .text(try secret(key, "AWS_SECRET_ACCESS_KEY")),
                sessionToken: try secrets.variable("AWS_SESSION_TOKEN").map {
                    (token) throws(OriginRuleError.Reason) in
                    .text(try secret(token, "AWS_SESSION_TOKEN"))
                })
        }
        if secrets.variable("AWS_WEB_IDENTITY_TOKEN_FILE") != nil { return try webIdentity(.init()) }
        if secrets.variable(Self.relativeURI) != nil || secrets.variable(Self.fullURI) != nil {
            return try container(.init())
        }
        guard !secrets.isChecking else {
            return .keys(name: .text(Secret("")), key: .text(Secret("")), sessionToken: nil)
        }
        throw .init(
            """
            expected accessKey and secretKey, webIdentity, container or instanceMetadata, or one of \
            AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, AWS_WEB_IDENTITY_TOKEN_FILE, \(Self.relativeURI) and \
            \(Self.fullURI) in the environment
            """, at: "accessKey")
    }

    // MARK: - Keys

    private func keys() throws(OriginRuleError.Reason) -> AWSKeySource {
        guard let name = settings.accessKey else {
            throw .init("expected a value, as there is a secretKey or sessionToken", at: "accessKey")
        }
        guard let key = settings.secretKey else {
            throw .init("expected a value, as there is an accessKey", at: "secretKey")
        }
        return .keys(
            name: try place(name, "accessKey"), key: try hidden(key, "secretKey"),
            sessionToken: try settings.sessionToken.map { (token) throws(OriginRuleError.Reason) in
                try hidden(token, "sessionToken")
            })
    }

    private func hidden(
        _ text: ConfiguredText, _ name: String
    ) throws(OriginRuleError.Reason) -> SecretPlace {
        guard !text.isLiteral else { throw .init("it \(OriginCredentials.onlyByReference)", at: name) }
        return try place(text, name)
    }

    private func place(
        _ text: ConfiguredText, _ name: String
    ) throws(OriginRuleError.Reason) -> SecretPlace {
        do throws(OriginRuleError.Reason) {
            let place = try secrets.place(of: text)
            _ = try secret(try place.read().text, name)
            return place
        } catch {
            throw .init(error.text, at: name)
        }
    }

    private func secret(_ text: String, _ name: String) throws(OriginRuleError.Reason) -> Secret {
        guard FieldSyntax.isValue(text) else { throw .init("it holds control characters", at: name) }
        return Secret(text)
    }

    // MARK: - Services

    private static let relativeURI = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
    private static let fullURI = "AWS_CONTAINER_CREDENTIALS_FULL_URI"

    private func webIdentity(
        _ given: OriginRuleConfiguration.WebIdentity
    ) throws(OriginRuleError.Reason) -> AWSKeySource {
        let member = "webIdentity."
        let role = try required(given.roleARN, "AWS_ROLE_ARN", member + "roleARN")
        let file = try required(
            given.tokenFile, "AWS_WEB_IDENTITY_TOKEN_FILE", member + "tokenFile")
        let endpoint =
            given.endpoint ?? secrets.variable("AWS_ENDPOINT_URL_STS")
            ?? OriginRuleConfiguration.regional("sts", region)
        return .webIdentity(
            AWSKeySource.WebIdentity(
                roleARN: role, token: try self.file(file, member + "tokenFile"),
                sessionName: given.sessionName ?? secrets.variable("AWS_ROLE_SESSION_NAME") ?? "imageproxyd",
                endpoint: try url(endpoint, member + "endpoint")))
    }

    private func container(
        _ given: OriginRuleConfiguration.Container
    ) throws(OriginRuleError.Reason) -> AWSKeySource {
        let full = try required(
            given.url ?? secrets.variable(Self.relativeURI).map { "http://169.254.170.2" + $0 }, Self.fullURI,
            "container.url")
        let service = try url(full, "container.url")
        guard service.scheme == "https" || Self.mayBePlain(service) else {
            throw .init(
                "expected https, or an address of this machine or of its platform", at: "container.url")
        }
        var authorization: SecretPlace?
        if let file = given.tokenFile ?? secrets.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
            authorization = try self.file(file, "container.tokenFile")
        } else if let token = secrets.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN") {
            authorization = .text(try secret(token, "container.tokenFile"))
        }
        return .container(service, authorization: authorization)
    }

    /// Whether a service may be asked without TLS, as AWS' tools permit it: loopback, ECS, EKS.
    private static func mayBePlain(_ url: SourceURL) -> Bool {
        let host = url.host
        return host == "localhost" || host.hasPrefix("127.") && url.literalAddress != nil || host == "[::1]"
            || ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"].contains(host)
    }

    private func instanceMetadata(
        _ given: OriginRuleConfiguration.InstanceMetadata
    ) throws(OriginRuleError.Reason) -> AWSKeySource {
        guard secrets.variable("AWS_EC2_METADATA_DISABLED")?.lowercased() != "true" else {
            throw .init("AWS_EC2_METADATA_DISABLED forbids it", at: "instanceMetadata")
        }
        let text =
            given.endpoint ?? secrets.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT")
            ?? "http://169.254.169.254/"
        return .instanceMetadata(
            try url(text.hasSuffix("/") ? text : text + "/", "instanceMetadata.endpoint"))
    }

    // MARK: - Values

    private func required(
        _ given: String?, _ name: String, _ member: String
    ) throws(OriginRuleError.Reason) -> String {
        if let value = given ?? secrets.variable(name) { return value }
        // The user who checks need not have the service's environment.
        guard secrets.isChecking else {
            throw .init("expected a value, here or in \(name)", at: member)
        }
        return member.hasSuffix("url") ? "https://unread/" : "/unread"
    }

    private func file(_ path: String, _ member: String) throws(OriginRuleError.Reason) -> SecretPlace {
        do throws(OriginRuleError.Reason) {
            return try secrets.place(at: path)
        } catch {
            throw .init(error.text, at: member)
        }
    }

    private func url(_ text: String, _ member: String) throws(OriginRuleError.Reason) -> SourceURL {
        do throws(SourceURLError) {
            return try SourceURL(parsing: text)
        } catch {
            throw .init("\"\(text)\" is no absolute http or https URL", at: member)
        }
    }
}
