// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("Host (RFC 9112 §3.2)")
struct HostTests {
    @Test("HTTP/1.1 without Host is 400; HTTP/1.0 needs none (RFC 9112 §3.2)")
    func missing() {
        #expect(HeadReading("GET / HTTP/1.1\r\n\r\n").error == .missingHost)
        #expect(HeadReading("GET http://a/ HTTP/1.1\r\n\r\n").error == .missingHost)
        #expect(RequestError.missingHost.status == 400)
        #expect(RequestError.missingHost.detail()?.contains("Host") == true)
        #expect(HeadReading("GET / HTTP/1.0\r\n\r\n").framing != nil)
    }

    @Test("Host on two lines is 400, even if both are equal, and in HTTP/1.0 (RFC 9112 §3.2)")
    func repeated() {
        #expect(HeadReading(head("Host: a\r\n")).error == .malformed)
        #expect(HeadReading(head("hOST: b\r\n")).error == .malformed)
        #expect(HeadReading("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n").error == .malformed)
        #expect(HeadReading(head("Host: a\r\n", target: "http://b/")).error == .malformed)
    }

    @Test(
        "A host with or without a port is accepted (RFC 9110 §7.2)",
        arguments: [
            "a", "a.b", "a:80", "a:", "a:65535", "127.0.0.1", "127.0.0.1:8080", "[::1]", "[::1]:80", "[::]",
            "[1:2:3:4:5:6:7:8]", "[1::8]", "[::ffff:192.0.2.1]", "[1:2:3:4:5:6:192.0.2.1]", "[2001:db8::]",
            "a_b-c~d",
            "a%20b", "a!$&'()*+,;=b", "A.EXAMPLE", "xn--bcher-kva.example", "a..b", "[1:2:3:4:5:6:7::]",
        ])
    func valid(host: String) {
        #expect(HeadReading("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n").request.values(of: .host) == [host])
    }

    @Test(
        "A Host that is not a host with an optional port is 400 (RFC 9112 §3.2)",
        arguments: [
            "", ":80", "a b", "a, b", "a/b", "a@b", "u:p@a", "a:b", "a:80:80", "a:65536", "a:-1", "a:8 0",
            "http://a",
            "a?b", "a#b", "[::1", "::1", "[]", "[:]", "[:::]", "[1::2::3]", "[1:2:3:4:5:6:7]",
            "[1:2:3:4:5:6:7:8:9]",
            "[12345::]", "[g::]", "[::1]a", "[::1]80", "[::256.0.0.1]", "[::1.2.3]", "[::01.2.3.4]",
            "[::1.2.3.4.5]",
            "[1:]", "[:1]", "[::1%25eth0]", "[v1.a]", "a%2", "a%gg", "\u{E9}", "a\"", "<a>", "a\\b", "a[b]",
            "a^",
            "[1:2:3:4:5:6:7:8::]", "[1.2.3.4]", "[1.2.3.4::]",
        ])
    func invalid(host: String) {
        #expect(HeadReading("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n").error == .malformed)
    }

    @Test("Host must be valid also beside an absolute-form, which replaces it (RFC 9112 §3.2.2)")
    func absoluteForm() {
        #expect(HeadReading("GET http://b/ HTTP/1.1\r\nHost: a b\r\n\r\n").error == .malformed)
        #expect(HeadReading("GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n").request.values(of: .host) == ["b"])
    }
}
