// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Freshness
@testable import Imaging
@testable import Origins
@testable import Primitives
@testable import URLs

@Suite("The table of origin rules")
struct OriginRuleTests {
    @Test("applies the first rule that matches")
    func firstMatch() throws {
        let rules = try rules(
            { $0.match = ["https://a.example/x/*"] }, { $0.match = ["https://a.example/*", "*://b.example"] })

        #expect(try rules.rule(for: url("https://a.example/x/1"))?.index == 0)
        #expect(try rules.rule(for: url("https://a.example/y"))?.index == 1)
        #expect(try rules.rule(for: url("http://b.example/deep/path?q"))?.index == 1)
        #expect(try rules.rule(for: url("http://a.example/x/1")) == nil)
        #expect(throws: AmbiguousURLError()) {
            try rules.rule(for: url("https://a.example/x/..%2fsecret"))
        }
        #expect(try rules.rule(for: url("https://a.example.evil.example/x/")) == nil)
    }

    @Test("matches scheme and host in any case, and treats default ports as absent")
    func normalisedPatterns() throws {
        let rules = try rules({ $0.match = ["HTTPS://A.Example:443/X/*"] })

        #expect(try rules.rule(for: url("https://a.example/X/1")) != nil)
        #expect(try rules.rule(for: url("https://a.example/x/1")) == nil)
    }

    @Test(
        "matches a path in its normal form, too (RFC 3986 §6.2.2)",
        arguments: [
            "https://a.example/%72e/1", "https://a.example/r%65/1", "https://a.example/%72%65/x%20y",
            "https://a.example/re/1", "https://a.example/./re/1", "https://a.example/x/../re/1",
            "https://a.example/x/%2e%2E/re/1", "https://a.example/re/a%2Fb", "https://a.example/re/a//b",
            "https://a.example/re/x%3Fy?z=%2F%2f",
        ])
    func normalPaths(text: String) throws {
        let rules = try rules({ $0.match = ["https://a.example/re/*"] })

        #expect(try rules.rule(for: url(text)) != nil)
    }

    @Test("matches a pattern with escapes in any of its spellings")
    func escapedPatterns() throws {
        let rules = try rules(
            { $0.match = ["https://a.example/%7euser/%c3%a4/*", "https://a.example/o/x%2Fy/*"] })

        for path in ["%7euser/%c3%a4/1", "~user/%C3%A4/1", "%7Euser/\u{e4}/1", "o/x%2Fy/1", "o/x%2fy/1"] {
            #expect(try rules.rule(for: url("https://a.example/" + path)) != nil, "\(path)")
        }
        // An escaped star is no wildcard.
        let star = try self.rules({ $0.match = ["https://a.example/%2A/x"] })
        #expect(try star.rule(for: url("https://a.example/b/x")) == nil)
        #expect(try star.rule(for: url("https://a.example/%2a/x")) != nil)
    }

    @Test(
        "refuses a path that the origin could interpret as one of another rule, or of none",
        arguments: [
            "//re/1", "/re%2f1", "/re%5C1", "/x/..%2fre/1", "/x%2f..%2fre/1", "/.//re/1",
            "/re/..%2f1",
            "/re/%2e%2e%5c1", "/%2Fre/1", "/re/open//1", "/re/x/..%2fopen/1", "///re///1",
        ])
    func ambiguousPaths(path: String) throws {
        let rules = try rules(
            { $0.match = ["https://a.example/re/open/*"] }, { $0.match = ["https://a.example/re/*"] })
        // Within one rule the other forms make no difference, unless dot segments are hidden.
        if path == "/re/open//1" {
            #expect(try rules.rule(for: url("https://a.example" + path))?.index == 0)
            return
        }

        #expect(throws: AmbiguousURLError()) {
            try rules.rule(for: url("https://a.example" + path))
        }
    }

    @Test(
        "accepts escapes and empty segments that lead to the same rule, or to none",
        arguments: [
            "/fit/https://b.example/re/1", "/o/folder%2Ffile.jpg", "/a%2Fb%5Cc//d", "/x/..%2fy", "/re",
            "/%25re/1",
            "/x?u=/re/", "/x?u=%2Fre%2F..//",
            "/x//../re/1",
        ])
    func harmlessPaths(path: String) throws {
        let rules = try rules({ $0.match = ["https://a.example/re/*", "https://b.example/*"] })

        #expect(try rules.rule(for: url("https://a.example" + path)) == nil)
    }

    @Test("fetches from the rewritten normal form, and from no other URL")
    func rewritesNormalForm() throws {
        let rules = try rules({
            $0.match = ["https://a.example/private/*"]
            $0.rewrite = .init(from: "https://a.example/private/", to: "https://b.example/x/")
        })
        for path in ["private/a%2Fb", "%70rivate/a%2fb", "priv%61te/%61%2Fb"] {
            let source = try url("https://a.example/" + path)
            let target = try #require(try rules.rule(for: source)).target(of: source)
            #expect(target?.normalized.uppercased() == "https://b.example/x/a%2Fb".uppercased(), "\(path)")
        }
    }

    @Test("names the invalid rule and member")
    func errors() throws {
        let cases: [(String, (inout OriginRuleConfiguration) -> Void)] = [
            ("match", { $0.match = [] }), ("match", { $0.match = ["ftp://a/*"] }),
            ("match", { $0.match = ["https://"] }),
            ("options", { $0.options = ["fast"] }),
            ("requestHeaders", { $0.requestHeaders = ["Host": .literal("a")] }),
            ("requestHeaders", { $0.requestHeaders = ["X-A": .literal("a\r\nb")] }),
            ("requestHeaders", { $0.requestHeaders = ["X-A": .file("/does/not/exist")] }),
            ("requestHeaders", { $0.requestHeaders = ["X-A": .credential("../x")] }),
            ("auth", { $0.auth = .bearer(.literal("in the open")) }),
            ("auth", { $0.auth = .basic(user: "a:b", password: .credential("x")) }),
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

    @Test("removes parameters from the key, and nothing else")
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

    @Test("rewrites fetches to below `to`, and never out of it")
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

    @Test("prints no secret")
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

    private func url(_ text: String) throws -> SourceURL { try SourceURL(parsing: text) }

    private func rules(
        _ changes: (inout OriginRuleConfiguration) -> Void...
    ) throws(OriginRuleError)
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

private func ttl(minimum: TimeSpan, maximum: TimeSpan) -> OriginRuleConfiguration.TTL {
    var ttl = OriginRuleConfiguration.TTL()
    (ttl.minimum, ttl.maximum) = (minimum, maximum)
    return ttl
}
