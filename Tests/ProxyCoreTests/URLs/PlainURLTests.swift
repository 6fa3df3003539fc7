// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("A URL in normal form")
struct PlainURLTests {
    private struct Dice: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    @Test(
        "is parsed without libcurl",
        arguments: [
            "http://example.com/a.jpg", "https://images.example:8443/a/b.png?w=1&h=2",
            "http://127.0.0.1:9/p/1.jpg",
            "https://a-b.c1.example/x//y/z.tar.gz?a/../b?c=:@!$'"
                .replacing("'", with: ""),
        ])
    func isPlain(text: String) throws {
        let plain = try #require(SourceURL(plain: text))
        let other = try SourceURL(normalizing: text)

        #expect(plain.normalized == text && plain.normalized == other.normalized)
        #expect(plain.origin == other.origin && plain.path == other.path && plain.query == other.query)
    }

    @Test(
        "is none that libcurl may change or refuse",
        arguments: [
            "HTTP://example.com/", "http://Example.com/", "http://example.com", "http://example.com?x",
            "http:///a",
            "http://example.com:80/", "https://example.com:443/", "http://example.com:0/",
            "http://example.com:08/",
            "http://example.com:65536/", "http://example.com:/", "http://a@example.com/",
            "http://.example.com/",
            "http://example.com./", "http://a..b/", "http://1/", "http://127.1/", "http://0177.0.0.1/",
            "http://256.1.1.1/", "http://99999999999999999999.1.1.1/", "http://1.1.1.00/", "http://1.1.1.1a/",
            "http://1.2.3.4.5/", "http://0x7f.0.0.1/", "http://a.0x1/", "http://[::1]/",
            "http://xn--bcher-kva.example/", "http://under_score.example/", "http://example.com/a/../b",
            "http://example.com/.", "http://example.com/.a", "http://example.com/%61",
            "http://example.com/a#b",
            "http://example.com/a?", "http://example.com/a b", "http://example.com/a\\b",
            "http://example.com/é",
            "http://example.com/a?b%20", "http://example.com/a?b#c", "ftp://example.com/",
            "http:/example.com/", "",
        ])
    func isNotPlain(text: String) {
        #expect(SourceURL(plain: text) == nil)
    }

    @Test("equals libcurl's result for random texts")
    func agrees() {
        let pieces = [
            "http://", "https://", "a", "b1", "example", ".", "..", ":", "80", "443", "8080", "/", "//", "?",
            "#", "%41", "%2e",
            "-", "_", "~", "!", "$", "&", "(", ")", "*", "+", ",", ";", "=", "@", "0x", "127.0.0.1", "1",
            "255", "256", "01",
            "A", "é", " ", "\\", "xn--a", "[", "]", "|", "^", "'", "\"", "{",
        ]
        var dice = Dice(state: 7)
        var plainOnes = 0
        for _ in 0..<20_000 {
            var text = Bool.random(using: &dice) ? "http://" : "https://"
            if Bool.random(using: &dice) { text += "a.example/" }
            for _ in 0..<Int.random(in: 1...8, using: &dice) {
                text += pieces.randomElement(using: &dice) ?? ""
            }
            guard let plain = SourceURL(plain: text) else { continue }
            plainOnes += 1
            // libcurl's reason is dropped: only the refusal counts.
            guard let other = try? SourceURL(normalizing: text) else {
                Issue.record("libcurl refuses \(text)")
                continue
            }
            #expect(plain.normalized == other.normalized && plain.origin == other.origin, "\(text)")
            #expect(plain.path == other.path && plain.query == other.query, "\(text)")
        }
        #expect(plainOnes > 500)
    }
}
