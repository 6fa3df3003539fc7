// SPDX-License-Identifier: Apache-2.0

import ProxyCore
import Testing

@Suite("A source URL")
struct SourceURLTests {
    @Test(
        "is normalized, so that equivalent spellings are equal (RFC 3986 §6.2)",
        arguments: [
            ("http://example.com", "http://example.com/"),
            ("HTTP://ExAmple.COM:80/a/../b/./c%2e%2E/%7euser", "http://example.com/b/c../%7euser"),
            ("https://example.com:443/a?b=c#fragment", "https://example.com/a?b=c"),
            ("https://example.com:80/", "https://example.com:80/"),
            ("http://example.com:/x", "http://example.com/x"),
            ("http://example.com:0080/x", "http://example.com/x"),
            ("http://example.com?x/../y", "http://example.com/?x/../y"),
            ("http://example.com/?", "http://example.com/"),
            ("http://example.com//a//b", "http://example.com//a//b"),
            ("http://example.com/a/..", "http://example.com/"),
            ("http://example.com/../../etc/passwd", "http://example.com/etc/passwd"),
            ("http://example.com/café?é", "http://example.com/caf%C3%A9?%C3%A9"),
            ("http://example.com/a?b?c=../..", "http://example.com/a?b?c=../.."),
            ("http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"),
            ("http://under_score.example/", "http://under_score.example/"),
            ("http://2130706433/", "http://127.0.0.1/"), ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://0177.0.0.1/", "http://127.0.0.1/"), ("http://1/", "http://0.0.0.1/"),
            ("http://[::1]:8080/", "http://[::1]:8080/"), ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
            ("http://[::FFFF:7f00:1]/", "http://[::ffff:7f00:1]/"),
        ])
    func normalises(text: String, normalized: String) throws {
        #expect(try SourceURL(parsing: text).normalized == normalized)
    }

    @Test("does not change when it is normalized again")
    func isStable() throws {
        let once = try SourceURL(parsing: "HTTP://A.example:80/x/../%41?q#f")

        #expect(try SourceURL(parsing: once.normalized) == once)
    }

    @Test("has the parts of its text")
    func parts() throws {
        let url = try SourceURL(parsing: "https://Images.Example:8443/a/b.png?w=1&h=2")

        #expect(url.scheme == "https")
        #expect(url.host == "images.example")
        #expect(url.port == 8_443)
        #expect(url.path == "/a/b.png")
        #expect(url.query == "w=1&h=2")
        #expect(try url.origin == SourceURL(parsing: "https://images.example:8443/other").origin)
    }

    @Test(
        "is refused with the reason, never repaired",
        arguments: [
            ("", .notAbsolute), ("/a/b", .notAbsolute), ("example.com/a", .notAbsolute),
            ("//example.com/", .notAbsolute),
            ("http:/example.com", .notAbsolute), ("http:///example.com", .notAbsolute),
            ("http:example.com", .notAbsolute),
            ("http://", .notAbsolute), ("http://?x", .notAbsolute), ("http:\\\\example.com/", .notAbsolute),
            ("ftp://example.com/", .unsupportedScheme("ftp")),
            ("FILE:///etc/passwd", .unsupportedScheme("file")),
            ("data:image/png;base64,AAAA", .unsupportedScheme("data")),
            ("localhost:80/x", .unsupportedScheme("localhost")),
            ("http://user@example.com/", .userInfo), ("http://user:secret@example.com/", .userInfo),
            ("http://@example.com/", .userInfo), ("http://a.example@b.example/", .userInfo),
            ("http://exa mple.com/", .forbiddenCharacter(10)),
            ("http://example.com/a b", .forbiddenCharacter(20)),
            ("http://example.com/\r\nX: y", .forbiddenCharacter(19)),
            ("http://example.com/\u{0}", .forbiddenCharacter(19)),
            (" http://example.com/", .forbiddenCharacter(0)),
            ("http://example.com/\u{7F}", .forbiddenCharacter(19)),
            ("http://bücher.example/", .nonASCIIHost), ("http://①②⑦.0.0.1/", .nonASCIIHost),
            ("http://example。com/", .nonASCIIHost), ("http://256.1.1.1/", .invalidHost),
            ("http://1.2.3.4.5/", .invalidHost),
            ("http://999999999999/", .invalidHost), ("http://a.0x1/", .invalidHost),
            ("http://example.com./", .invalidHost),
            ("http://127.0.0.1./", .invalidHost), ("http://a..b/", .invalidHost),
            ("http://.a/", .invalidHost),
            ("http://%31%32%37.0.0.1/", .invalidHost), ("http://example%2ecom/", .invalidHost),
            ("http://a\\b.example/", .invalidHost), ("http://[fe80::1%25eth0]/", .invalidHost),
            ("http://[127.0.0.1]/", .invalidHost), ("http://example.com:0/", .invalidPort),
            ("http://example.com:65536/", .invalidPort), ("http://example.com:8a/", .invalidPort),
        ] as [(String, SourceURLError)])
    func refuses(text: String, error: SourceURLError) {
        #expect(throws: error) { try SourceURL(parsing: text) }
    }

    @Test("beyond the maximum length is refused, as given or after its non-ASCII bytes are escaped")
    func tooLong() throws {
        let prefix = "http://example.com/"
        let room = SourceURL.maxBytes - prefix.utf8.count

        #expect(throws: Never.self) { try SourceURL(parsing: prefix + String(repeating: "a", count: room)) }
        #expect(throws: SourceURLError.tooLong) {
            try SourceURL(parsing: prefix + String(repeating: "a", count: room + 1))
        }
        #expect(throws: SourceURLError.tooLong) {
            try SourceURL(parsing: prefix + String(repeating: "é", count: room / 2))
        }
    }

    @Test(
        "resolves a Location against itself (RFC 9110 §10.2.2)",
        arguments: [
            ("b", "http://h.example:81/d/b"), ("../b", "http://h.example:81/b"),
            ("/b?c", "http://h.example:81/b?c"),
            ("?q", "http://h.example:81/d/e?q"), ("//o.example/b", "http://o.example/b"),
            ("https://o.example/b#f", "https://o.example/b"), ("/a b", "http://h.example:81/a%20b"),
            ("/é", "http://h.example:81/%C3%A9"),
            ("\\\\o.example\\b", "http://h.example:81/d/%5C%5Co.example%5Cb"),
            ("", "http://h.example:81/d/e?x"), ("#f", "http://h.example:81/d/e?x"),
            ("?", "http://h.example:81/d/e"), ("?#f", "http://h.example:81/d/e"),
            ("?a\"b|%zz", "http://h.example:81/d/e?a%22b%7C%25zz"),
            ("b?c/../d", "http://h.example:81/d/b?c/../d"), ("%2E%2E/b", "http://h.example:81/b"),
        ])
    func resolves(location: String, target: String) throws {
        let url = try SourceURL(parsing: "http://h.example:81/d/e?x")

        #expect(try url.resolving(location: location).normalized == target)
    }

    @Test(
        "resolves references as in RFC 3986 §5.4, without fragments",
        arguments: [
            ("//g", "http://g/"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"), ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"), ("g#s", "http://a/b/c/g"),
            ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
            ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"),
            ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
            ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
            ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("g#s/./x", "http://a/b/c/g"), ("g#s/../x", "http://a/b/c/g"),
        ])
    func resolvesReferences(reference: String, target: String) throws {
        let base = try SourceURL(parsing: "http://a/b/c/d;p?q")

        #expect(try base.resolving(location: reference).normalized == target)
    }

    @Test(
        "percent-encodes characters that a URI can't contain (RFC 3986 §3.3, §3.4), and a % without escape",
        arguments: [
            ("/photo.png?\"<>", "/photo.png?%22%3C%3E"), ("/a\"<>b", "/a%22%3C%3Eb"),
            ("/{a}|b^c`d", "/%7Ba%7D%7Cb%5Ec%60d"), ("/a\\..\\b", "/a%5C..%5Cb"),
            ("/a[1]?b[2]=3", "/a%5B1%5D?b%5B2%5D=3"), ("/%zz", "/%25zz"), ("/100%", "/100%25"),
            ("/a%4", "/a%254"), ("/%2%65", "/%252%65"), ("/?%", "/?%25"), ("/%41%zz%2f", "/%41%25zz%2f"),
            ("/a?b=\\&c={}", "/a?b=%5C&c=%7B%7D"), ("/a#\"<%zz", "/a"),
            ("/-._~!$&'()*+,;=:@/?-._~!$&'()*+,;=:@/?", "/-._~!$&'()*+,;=:@/?-._~!$&'()*+,;=:@/?"),
        ])
    func encodes(text: String, target: String) throws {
        let url = try SourceURL(parsing: "http://[::1]:81" + text)

        #expect(url.normalized == "http://[::1]:81" + target)
        #expect(try SourceURL(parsing: url.normalized) == url)
    }

    @Test(
        "resolves no Location to an invalid source URL",
        arguments: [
            ("ftp://o.example/", .unsupportedScheme("ftp")), ("http:/x", .notAbsolute),
            ("http:x", .notAbsolute),
            ("//u@o.example/", .userInfo), ("//①/", .nonASCIIHost), ("/a\r\nb", .forbiddenCharacter(2)),
            ("javascript:alert(1)", .unsupportedScheme("javascript")), ("//o.example:99999/", .invalidPort),
        ] as [(String, SourceURLError)])
    func refusesLocation(location: String, error: SourceURLError) throws {
        let url = try SourceURL(parsing: "http://h.example/")

        #expect(throws: error) { try url.resolving(location: location) }
    }
}
