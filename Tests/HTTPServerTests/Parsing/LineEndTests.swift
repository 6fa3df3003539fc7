// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("Where lines and heads end (RFC 9112 §2)")
struct LineEndTests {
    @Test("Empty lines before the request line are skipped, up to a bound (RFC 9112 §2.2)")
    func emptyLines() {
        for count in 0...2 {
            let text = String(repeating: "\r\n", count: count) + head("Accept: x\r\n", target: "/a")
            let reading = HeadReading(text)

            #expect(reading.outcome == .head(length: text.utf8.count, RequestFraming()))
            #expect(reading.request.target == "/a")
            #expect(reading.request.values(of: .accept) == ["x"])
        }
        #expect(HeadReading("\r\n\r\n\r\n" + head()).error == .malformed)
    }

    @Test(
        "A line feed without a carriage return is 400 (RFC 9112 §2.2)",
        arguments: [
            "GET / HTTP/1.1\nHost: a\n\n", "GET / HTTP/1.1\r\nHost: a\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\n",
            "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\nHost: a\r\n\r\n", "\n",
            "GET / HTTP/1.1\r\nHost: a\r\nX: b\nY: c\r\n\r\n",
        ])
    func bareLineFeed(text: String) {
        #expect(HeadReading(text).error == .malformed)
    }

    @Test(
        "A carriage return without a line feed is 400 wherever it stands (RFC 9112 §2.2)",
        arguments: [
            "GET / HTTP/1.1\rHost: a\r\n\r\n", "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nX\r: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\rX: b\r\n\r\n",
            "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n", "\r\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\r\r\n",
        ])
    func bareCarriageReturn(text: String) {
        #expect(HeadReading(text).error?.status == 400)
    }

    @Test("A head ends with its empty line: what follows belongs to the next request (RFC 9112 §9.3.2)")
    func pipelined() {
        let first = head("Connection: close\r\n", target: "/a")

        let reading = HeadReading(first + head(target: "/b"))

        #expect(reading.outcome == .head(length: first.utf8.count, RequestFraming(keepsAlive: false)))
        #expect(reading.request.target == "/a")
    }

    @Test("A parser reads one head after the other")
    func reuse() {
        var (parser, request) = (RequestParser(RequestLimits()), HTTPRequest())
        for target in ["/a", "/b?c", "/"] {
            let bytes = Array(head(target: target).utf8)
            for length in [bytes.count / 2, bytes.count] {
                _ = bytes.withUnsafeBytes {
                    parser.parse(UnsafeRawBufferPointer(rebasing: $0[..<length]), into: &request)
                }
            }
            #expect(request.target == target)
        }
    }

    @Test("A client that speaks another protocol is refused before the first line's end")
    func otherProtocols() {
        #expect(HeadReading([0x16, 0x03, 0x01, 0x02]).error == .malformed)
        #expect(HeadReading([0x80]).error == .malformed)
        #expect(HeadReading([0]).error == .malformed)
        #expect(HeadReading("SSH-2.0-OpenSSH_9.2\r\n").error == .malformed)
        #expect(HeadReading("PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n").error == .malformed)
    }

    @Test(
        "An incomplete head waits for more bytes",
        arguments: ["", "G", "\r", "\r\n", "GET / HTTP/1.1\r\nHost: a\r\n"])
    func incomplete(text: String) {
        #expect(HeadReading(text).outcome == .needsMore)
    }
}
