// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("Connection fields of a head (RFC 9112 §9, RFC 9110 §10.1.1)")
struct ConnectionFieldTests {
    private func keepsAlive(_ lines: String, version: String = "1.1") -> Bool? {
        HeadReading("GET / HTTP/\(version)\r\nHost: a\r\n\(lines)\r\n").framing?.keepsAlive
    }

    @Test("HTTP/1.1 connections persist unless the client sends close (RFC 9112 §9.3)")
    func http11() {
        #expect(keepsAlive("") == true)
        #expect(keepsAlive("Connection: close\r\n") == false)
        #expect(keepsAlive("Connection: keep-alive\r\n") == true)
        #expect(keepsAlive("Connection: upgrade\r\n") == true)
    }

    @Test("HTTP/1.0 connections end unless the client sends keep-alive (RFC 9112 §9.3)")
    func http10() {
        #expect(keepsAlive("", version: "1.0") == false)
        #expect(keepsAlive("Connection: Keep-Alive\r\n", version: "1.0") == true)
        #expect(keepsAlive("Connection: close\r\n", version: "1.0") == false)
        #expect(keepsAlive("Proxy-Connection: keep-alive\r\n", version: "1.0") == false)
    }

    @Test(
        "Connection is a list of tokens in any case, over several lines (RFC 9110 §7.6.1)",
        arguments: [
            "Connection: foo, Close\r\n", "Connection: ,,CLOSE ,\r\n",
            "Connection: foo\r\nConnection: close\r\n",
            "Connection: close\r\nConnection: foo\r\n", "connection:\tclose\r\n",
            "Connection: foo,\tclose\t,bar\r\n",
        ])
    func tokenList(lines: String) {
        #expect(keepsAlive(lines) == false)
    }

    @Test(
        "A token that only resembles close is not close (RFC 9110 §7.6.1)",
        arguments: ["closed", "clos", "cl ose", "\"close\"", "close;", "not-close", "", ","])
    func notClose(value: String) {
        #expect(keepsAlive("Connection: \(value)\r\n") == true)
    }

    @Test("close wins over keep-alive wherever it stands (RFC 9112 §9.3)")
    func closeWins() {
        for version in ["1.0", "1.1"] {
            #expect(keepsAlive("Connection: close, keep-alive\r\n", version: version) == false)
            #expect(keepsAlive("Connection: keep-alive, close\r\n", version: version) == false)
            #expect(
                keepsAlive("Connection: keep-alive\r\nConnection: close\r\n", version: version) == false)
        }
    }

    @Test("Expect: 100-continue is recognized in any case, once or more (RFC 9110 §10.1.1)")
    func expectContinue() {
        for value in ["100-continue", "100-Continue", "100-CONTINUE", "100-continue, 100-continue"] {
            let framing = HeadReading(head("Content-Length: 1\r\nExpect: \(value)\r\n", method: "PUT"))
                .framing
            #expect(framing == RequestFraming(body: .length(1), expectsContinue: true))
        }
    }

    @Test("Without content 100-continue has no effect (RFC 9110 §10.1.1)")
    func expectWithoutContent() {
        #expect(HeadReading(head("Expect: 100-continue\r\n")).framing == RequestFraming())
        #expect(
            HeadReading(head("Content-Length: 0\r\nExpect: 100-continue\r\n")).framing == RequestFraming())
    }

    @Test(
        "Any other expectation is 417 (RFC 9110 §10.1.1)",
        arguments: ["magic", "100-continue, magic", "magic, 100-continue", "100-continue;a=b", "100", "a=b"])
    func otherExpectations(value: String) {
        #expect(HeadReading(head("Content-Length: 1\r\nExpect: \(value)\r\n")).error == .unknownExpectation)
    }

    @Test("Expectations of HTTP/1.0 are ignored (RFC 9110 §10.1.1)")
    func expectHTTP10() {
        for value in ["100-continue", "magic"] {
            let text =
                "POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 1\r\nExpect: \(value)\r\n\r\n"
            #expect(HeadReading(text).framing == RequestFraming(body: .length(1)))
        }
    }
}
