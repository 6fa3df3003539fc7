// SPDX-License-Identifier: Apache-2.0

// Rules are members of a list, so defaults can't be merged into them: each object here names its members
// itself.

extension OriginRuleConfiguration {
    /// Decodes a rule; an unknown member is an error.
    package init(from decoder: any Decoder) throws {
        let members = try StrictMembers(
            decoder,
            knowing: [
                "match", "options", "requestHeaders", "rewrite", "auth", "cookies", "tls",
                "responseContentType",
                "responseTTL", "acceptStatus", "cacheKey", "decode", "reencode", "storeAs", "maxConcurrent",
                "loader",
                "root",
            ])
        match = try members.list("match")
        options = try members.list("options")
        requestHeaders = try members.value("requestHeaders") ?? [:]
        rewrite = try members.value("rewrite")
        auth = try members.value("auth")
        cookies = try members.value("cookies") ?? .ignore
        tls = try members.value("tls")
        responseContentType = try members.list("responseContentType")
        responseTTL = try members.value("responseTTL")
        acceptStatus = try members.value("acceptStatus") ?? []
        cacheKey = try members.value("cacheKey")
        decode = try members.value("decode") ?? .none
        reencode = try members.value("reencode") ?? false
        storeAs = try members.value("storeAs")
        maxConcurrent = try members.value("maxConcurrent")
        loader = try members.value("loader") ?? .http
        root = try members.value("root")
    }
}

extension OriginRuleConfiguration.Rewrite {
    /// Decodes the object; an unknown member is an error.
    package init(from decoder: any Decoder) throws {
        let members = try StrictMembers(decoder, knowing: ["from", "to"])
        from = try members.required("from")
        to = try members.required("to")
    }
}

extension OriginRuleConfiguration.TLS {
    /// Decodes the object; an unknown member is an error.
    package init(from decoder: any Decoder) throws {
        let members = try StrictMembers(decoder, knowing: ["insecure", "ca"])
        insecure = try members.value("insecure") ?? false
        ca = try members.value("ca")
    }
}

extension OriginRuleConfiguration.TTL {
    /// Decodes the object; an unknown member is an error.
    package init(from decoder: any Decoder) throws {
        let members = try StrictMembers(decoder, knowing: ["minimum", "maximum", "override"])
        minimum = try members.value("minimum")
        maximum = try members.value("maximum")
        override = try members.value("override")
    }
}

extension OriginRuleConfiguration.CacheKeyFilter {
    /// Decodes the object; an unknown member is an error.
    package init(from decoder: any Decoder) throws {
        dropQuery = try StrictMembers(decoder, knowing: ["dropQuery"]).list("dropQuery")
    }
}

extension OriginRuleConfiguration.Auth: Codable {
    /// Decodes the object; an unknown member is an error.
    package init(from decoder: any Decoder) throws {
        let all = try StrictMembers(
            decoder,
            knowing: ["type", "user", "password", "token", "region", "service", "accessKey", "secretKey"])
        let type: String = try all.required("type")
        switch type {
        case "basic":
            let members = try StrictMembers(decoder, knowing: ["type", "user", "password"])
            self = .basic(user: try members.required("user"), password: try members.required("password"))
        case "bearer":
            let members = try StrictMembers(decoder, knowing: ["type", "token"])
            self = .bearer(try members.required("token"))
        case "awsSigV4":
            let members = try StrictMembers(
                decoder, knowing: ["type", "region", "service", "accessKey", "secretKey"])
            self = .awsSigV4(
                OriginRuleConfiguration.AWSCredentials(
                    region: try members.required("region"), service: try members.value("service") ?? "s3",
                    accessKey: try members.required("accessKey"), secretKey: try members.required("secretKey")
                ))
        default: throw all.complaint("type", "expected one of basic, bearer, awsSigV4")
        }
    }

    /// Encodes the object; secrets remain references.
    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: AnyKey.self)
        switch self {
        case .basic(let user, let password):
            try members.encode("basic", forKey: AnyKey("type"))
            try members.encode(user, forKey: AnyKey("user"))
            try members.encode(password, forKey: AnyKey("password"))
        case .bearer(let token):
            try members.encode("bearer", forKey: AnyKey("type"))
            try members.encode(token, forKey: AnyKey("token"))
        case .awsSigV4(let credentials):
            try members.encode("awsSigV4", forKey: AnyKey("type"))
            try members.encode(credentials.region, forKey: AnyKey("region"))
            try members.encode(credentials.service, forKey: AnyKey("service"))
            try members.encode(credentials.accessKey, forKey: AnyKey("accessKey"))
            try members.encode(credentials.secretKey, forKey: AnyKey("secretKey"))
        }
    }
}
