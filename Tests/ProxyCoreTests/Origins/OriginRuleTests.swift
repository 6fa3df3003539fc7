// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ProxyCore

@Suite("The table of origin rules")
struct OriginRuleTests {
    @Test("takes the first rule that matches")
    func firstMatch() throws {
        let rules = try rules(
            { $0.match = ["https://a.example/x/*"] }, { $0.match = ["https://a.example/*", "*://b.example"] })

        #expect(try rules.rule(for: url("https://a.example/x/1"))?.index == 0)
        #expect(try rules.rule(for: url("https://a.example/y"))?.index == 1)
        #expect(try rules.rule(for: url("http://b.example/deep/path?q"))?.index == 1)
        #expect(try rules.rule(for: url("http://a.example/x/1")) == nil)
        #expect(throws: PipelineError.sourceForbidden) {
            try rules.rule(for: url("https://a.example/x/..%2fsecret"))
        }
        #expect(try rules.rule(for: url("https://a.example.evil.example/x/")) == nil)
    }

    @Test("matches scheme and host in any case, and default ports as absent")
    func normalisedPatterns() throws {
        let rules = try rules({ $0.match = ["HTTPS://A.Example:443/X/*"] })

        #expect(try rules.rule(for: url("https://a.example/X/1")) != nil)
        #expect(try rules.rule(for: url("https://a.example/x/1")) == nil)
    }

    @Test("names the rule and the member that can't be used")
    func errors() throws {
        let cases: [(String, (inout OriginRuleConfiguration) -> Void)] = [
            ("match", { $0.match = [] }), ("match", { $0.match = ["ftp://a/*"] }),
            ("match", { $0.match = ["https://"] }),
            ("options", { $0.options = ["fast"] }),
            ("requestHeaders", { $0.requestHeaders = ["Host": .literal("a")] }),
            ("requestHeaders", { $0.requestHeaders = ["X-A": .literal("a\r\nb")] }),
            ("requestHeaders", { $0.requestHeaders = ["X-A": .file("/does/not/exist")] }),
            ("requestHeaders", { $0.requestHeaders = ["X-A": .credential("../x")] }),
            ("requestHeaders", { $0.auth = .bearer(.literal("in the open")) }),
            (
                "rewrite",
                {
                    $0.rewrite = .init(from: "https://a.example/", to: "https://b.example");
                    $0.rewrite?.to = "b"
                }
            ),
            ("rewrite", { $0.rewrite = .init(from: "https://a.example/x", to: "https://b.example/") }),
            (
                "cacheKey.dropQuery",
                {
                    $0.cacheKey = .init(); $0.cacheKey?.dropQuery = ["a*b"]
                }
            ),
            ("responseContentType", { $0.responseContentType = ["image"] }),
            ("responseTTL", { $0.responseTTL = ttl(minimum: .days(2), maximum: .days(1)) }),
            ("acceptStatus", { $0.acceptStatus = [304] }), ("acceptStatus", { $0.acceptStatus = [206] }),
            ("maxConcurrent", { $0.maxConcurrent = 0 }),
            (
                "loader",
                {
                    $0.loader = .file; $0.root = "/tmp"; $0.cookies = .forward
                }
            ),
            ("root", { $0.loader = .file }), ("root", { $0.root = "/tmp" }),
            (
                "tls.ca",
                {
                    $0.tls = .init(); $0.tls?.ca = "/none"
                }
            ),
        ]
        for (key, change) in cases {
            let error = #expect(throws: OriginRuleError.self, "\(key)") {
                try rules(
                    { $0.match = ["https://good.example/*"] },
                    { rule in
                        rule.match = ["https://a.example/*"]
                        change(&rule)
                    })
            }
            #expect(error?.index == 1)
            #expect(error?.key == key, "\(error?.description ?? "")")
        }
    }

    @Test("leaves parameters out of the key, and nothing else")
    func dropQuery() throws {
        let filter = try QueryFilter(dropping: ["utm_*", "X-Amz-*", "sig"])
        let all = try QueryFilter(dropping: ["*"])

        for (given, kept) in [
            ("http://a/p?utm_source=x&w=1&utm_medium=y", "http://a/p?w=1"),
            ("http://a/p?utm_source=x", "http://a/p"),
            ("http://a/p?X-Amz-Signature=1&X-Amz-Date=2&sig=3", "http://a/p"),
            ("http://a/p?signal=1", "http://a/p?signal=1"),
            ("http://a/p?b=1&&a", "http://a/p?b=1&&a"), ("http://a/p", "http://a/p"),
            ("http://a/p?w=sig=", "http://a/p?w=sig="),
        ] {
            #expect(filter.key(of: try url(given)) == kept)
        }
        #expect(all.key(of: try url("http://a/p?x=1&y")) == "http://a/p")
    }

    @Test("sends fetches elsewhere, and never out of there")
    func rewrite() throws {
        let rewrite = try URLRewrite(
            .init(from: "https://cdn.example/img/", to: "http://bucket.internal:9000/b/"))

        #expect(
            try rewrite.target(of: url("https://cdn.example/img/a/b.png?v=1"))?.normalized
                == "http://bucket.internal:9000/b/a/b.png?v=1")
        #expect(
            try rewrite.target(of: url("https://cdn.example/other"))?.normalized
                == "https://cdn.example/other")
        #expect(rewrite.isBelow(try url("http://bucket.internal:9000/b/c")))
        #expect(!rewrite.isBelow(try url("http://bucket.internal:9000/c")))
    }

    @Test("reads base64 in any pieces, in both alphabets, with or without padding (RFC 4648)")
    func base64() throws {
        let bytes = (0..<256).map { UInt8($0) }
        let text = Base64.encode(bytes)

        for size in [1, 2, 3, 5, 7, 400] {
            #expect(Self.decode(text, in: size) == bytes)
            #expect(Self.decode(text.replacing("+", with: "-").replacing("/", with: "_"), in: size) == bytes)
        }
        #expect(Self.decode(text.replacing("=", with: ""), in: 11) == bytes)
        #expect(Self.decode("aG\r\nVs bG8=\n", in: 2) == Array("hello".utf8))
        #expect(
            ["", "f", "fo", "foo"].map { Base64.encode(Array($0.utf8)) } == ["", "Zg==", "Zm8=", "Zm9v"])
        for bad in ["a", "a===", "aGVsbG8=x", "aGVs*G8=", "aGVsbG8==", "=aaa"] {
            #expect(Self.decode(bad, in: 3) == nil, "\(bad)")
        }
    }

    @Test("overrides lifetimes as it is told, and what may not be stored stays so")
    func lifetimes() throws {
        let override = try rules({
            $0.match = ["*://*"]; $0.responseTTL = ttl(override: .hours(1))
        })
        let bounds = try rules({
            $0.match = ["*://*"]; $0.responseTTL = ttl(minimum: .minutes(1), maximum: .minutes(2))
        })
        let any = try url("http://a/")
        var record = SourceRecord(
            key: CacheKey(high: 0, low: 0), keyText: "", contentHash: ContentHash(of: []), byteCount: 0,
            format: .png,
            responseTime: 1_000, initialAge: 5, freshnessLifetime: 10, directives: [.noCache, .noStore])

        try override.rule(for: any)?.apply(to: &record)
        #expect(record.isFresh(at: 1_000 + 3_599))
        #expect(!record.isFresh(at: 1_000 + 3_601))
        #expect(record.directives.forbidStoring)

        try bounds.rule(for: any)?.apply(to: &record)
        #expect(record.freshnessLifetime == 120)
        record.freshnessLifetime = 3
        try bounds.rule(for: any)?.apply(to: &record)
        #expect(record.freshnessLifetime == 60)
    }

    @Test("shows no secret, however it is printed")
    func secrets() throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array("open sesame\n".utf8), to: "token")
        var configuration = OriginRuleConfiguration()
        configuration.match = ["https://a.example/*"]
        configuration.auth = .bearer(.file(folder.path + "/token"))
        configuration.requestHeaders = ["X-Key": .credential("token")]
        let rules = try OriginRules([configuration], secrets: SecretReader(credentialsDirectory: folder.path))
        let rule = try #require(try rules.rule(for: url("https://a.example/")))

        var dumped = ""
        dump(rule, to: &dumped)
        dump(rule.credentials, to: &dumped)

        #expect(rule.credentials.fields.map(\.value.text) == ["open sesame", "Bearer open sesame"])
        #expect(!"\(rules) \(rule) \(rule.credentials) \(configuration) \(dumped)".contains("sesame"))
    }

    private static func decode(_ text: String, in size: Int) -> [UInt8]? {
        let bytes = Array(text.utf8)
        var decoder = Base64()
        var decoded: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = Array(bytes[start..<min(start + size, bytes.count)])
            guard let some = piece.withUnsafeBytes({ decoder.decode($0) }) else { return nil }
            decoded += some
        }
        guard let rest = decoder.finish() else { return nil }
        return decoded + rest
    }

    private func url(_ text: String) throws -> SourceURL { try SourceURL(parsing: text) }

    private func rules(_ changes: (inout OriginRuleConfiguration) -> Void...) throws(OriginRuleError)
        -> OriginRules
    {
        try OriginRules(
            changes.map { change in
                var rule = OriginRuleConfiguration()
                change(&rule)
                return rule
            }, secrets: SecretReader(credentialsDirectory: nil))
    }
}

private func ttl(
    minimum: TimeSpan? = nil, maximum: TimeSpan? = nil, override: TimeSpan? = nil
) -> OriginRuleConfiguration.TTL {
    var ttl = OriginRuleConfiguration.TTL()
    (ttl.minimum, ttl.maximum, ttl.override) = (minimum, maximum, override)
    return ttl
}
