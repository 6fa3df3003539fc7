// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("The policy on sources")
struct SourcePolicyTests {
    @Test("allows everything without a pattern")
    func noPattern() throws {
        #expect(try SourcePolicy(patterns: []).allows(SourceURL(parsing: "http://example.org/a")))
    }

    @Test(
        "compares whole URLs; a star matches any run of characters",
        arguments: [
            ("https://example.org", "https://example.org/a/b?c", true),
            ("https://example.org", "http://example.org/a", false),
            ("*://example.org", "http://example.org/a", true),
            ("https://*.example.org/", "https://a.b.example.org/", true),
            ("https://*.example.org", "https://example.org/", false),
            ("https://example.org/photos/*", "https://example.org/photos/1.jpg", true),
            ("https://example.org/photos/*", "https://example.org/secret/1.jpg", false),
            ("https://example.org/*.jpg", "https://example.org/a/b.jpg", true),
            ("https://example.org/*.jpg", "https://example.org/a/b.jpg?x", false),
            ("https://example.org", "https://example.org:8443/a", false),
            ("https://example.org:*", "https://example.org:8443/a", true),
        ])
    func matching(pattern: String, url: String, isAllowed: Bool) throws {
        #expect(try SourcePolicy(patterns: [pattern]).allows(SourceURL(parsing: url)) == isAllowed)
    }

    @Test("never matches a part of the path by a star in the host")
    func hostStar() throws {
        let policy = try SourcePolicy(patterns: ["https://*.example.org"])

        #expect(!policy.allows(try SourceURL(parsing: "https://evil.test/x.example.org")))
        #expect(!policy.allows(try SourceURL(parsing: "https://evil.test/?.example.org")))
    }

    @Test(
        "confines a URL to its path, in any spelling of dot segments",
        arguments: [
            "https://example.org/photos/../secret/1.jpg", "https://example.org/photos/%2e%2E/secret/1.jpg",
            "https://example.org/photos/.%2e/secret/1.jpg", "https://example.org/photos/..%2fsecret/1.jpg",
            "https://example.org/photos/%2e%2e%5csecret/1.jpg",
        ])
    func dotSegments(url: String) throws {
        let policy = try SourcePolicy(patterns: ["https://example.org/photos/*"])

        #expect(!policy.allows(try SourceURL(parsing: url)))
    }

    @Test("takes linear time for a hostile pattern")
    func hostilePattern() throws {
        let policy = try SourcePolicy(patterns: ["https://a/" + String(repeating: "*a", count: 200) + "b"])

        #expect(!policy.allows(try SourceURL(parsing: "https://a/" + String(repeating: "a", count: 7_000))))
    }

    @Test("refuses a pattern without a scheme, by its index")
    func noScheme() {
        #expect(throws: SourcePolicyError.self) { try SourcePolicy(patterns: ["https://a", "example.org"]) }
    }
}
