// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("The head of a request (RFC 9112)")
struct RequestParserTests {
    private func outcome(_ bytes: [UInt8], piecesOf size: Int? = nil, at split: Int? = nil)
        -> RequestParser.Outcome
    {
        var parser = RequestParser(maxHeadBytes: 1_024, maxTargetBytes: 256)
        var request = HTTPRequest()
        var lengths: [Int] = []
        if let size { lengths = Array(stride(from: size, to: bytes.count, by: size)) }
        if let split { lengths = [split] }
        for length in lengths + [bytes.count] {
            let outcome = bytes.withUnsafeBytes { raw in
                parser.parse(UnsafeRawBufferPointer(rebasing: raw[..<length]), into: &request)
            }
            if outcome != .needsMore { return outcome }
        }
        return .needsMore
    }

    private static let good: [(String, RequestFraming)] = [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", RequestFraming()),
        ("GET /a?b=c HTTP/1.1\r\nhost:a\r\n\r\n", RequestFraming()),
        ("GET / HTTP/1.0\r\n\r\n", RequestFraming(keepsAlive: false)),
        ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", RequestFraming()),
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: foo, Close\r\n\r\n", RequestFraming(keepsAlive: false)),
        ("GET http://a.b/c HTTP/1.1\r\nHost: a.b\r\n\r\n", RequestFraming()),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", RequestFraming()),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\n", RequestFraming(body: .length(12))),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n", RequestFraming(body: .chunked)),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-Continue\r\n\r\n",
            RequestFraming(body: .length(1), expectsContinue: true)
        ),
    ]

    private static let bad: [(String, RequestError)] = [
        ("GET / HTTP/1.1\nHost: a\n\n", .malformed),
        ("GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", .malformed),
        ("GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n", .malformed),
        ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", .malformed),
        ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", .malformed),
        ("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", .malformed),
        ("GET /#a HTTP/1.1\r\nHost: a\r\n\r\n", .malformed),
        ("GET / HTTP/1.1\r\n\r\n", .malformed),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", .malformed),
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", .malformed),
        ("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", .malformed),
        ("GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", .malformed),
        ("GET / HTTP/1.1\r\nHost: a\r\nX(: b\r\n\r\n", .malformed),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", .malformed),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n", .malformed),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", .malformed),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", .malformed),
        ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", .malformed),
        ("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", .malformed),
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", .notImplemented),
        ("BREW / HTTP/1.1\r\nHost: a\r\n\r\n", .notImplemented),
        ("get / HTTP/1.1\r\nHost: a\r\n\r\n", .notImplemented),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", .versionNotSupported),
        ("GET / http/1.1\r\nHost: a\r\n\r\n", .malformed),
        ("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", .malformed),
        ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", .malformed),
        ("POST / HTTP/1.1\r\nHost: a\r\nExpect: magic\r\n\r\n", .unknownExpectation),
        ("GET /" + String(repeating: "a", count: 300) + " HTTP/1.1\r\nHost: a\r\n\r\n", .targetTooLong),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 1_024) + "\r\n\r\n",
            .headTooLarge
        ),
    ]

    @Test("is read the same however it is split", arguments: good)
    func goodHeads(head: String, framing: RequestFraming) {
        let bytes = Array(head.utf8)
        let expected = RequestParser.Outcome.head(length: bytes.count, framing)

        #expect(outcome(bytes) == expected)
        #expect(outcome(bytes, piecesOf: 1) == expected)
        for split in 1..<bytes.count { #expect(outcome(bytes, at: split) == expected) }
    }

    @Test("is refused the same however it is split, when it is ambiguous or too long", arguments: bad)
    func badHeads(head: String, error: RequestError) {
        let bytes = Array(head.utf8)
        let expected = RequestParser.Outcome.failed(error)

        #expect(outcome(bytes) == expected)
        #expect(outcome(bytes, piecesOf: 1) == expected)
        for split in 1..<bytes.count { #expect(outcome(bytes, at: split) == expected) }
    }

    @Test("ends where it ends: what follows belongs to the next request")
    func pipelined() {
        let head = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n"

        #expect(outcome(Array((head + "GET /b").utf8)) == .head(length: head.utf8.count, RequestFraming()))
    }
}

@Suite("The content of a request (RFC 9112 §6, §7.1)")
struct ContentReaderTests {
    private func read(_ text: String, _ framing: BodyFraming, split: Int? = nil) throws(RequestError) -> (
        String, Int
    )? {
        var reader = try ContentReader(framing, maxBytes: 64)
        let bytes = Array(text.utf8)
        var consumed = 0
        if let split { consumed = try reader.read(bytes[..<split]) }
        consumed += try reader.read(bytes[consumed...])
        return reader.isDone ? (String(decoding: reader.content, as: UTF8.self), consumed) : nil
    }

    @Test(
        "is collected up to its end, however it is split",
        arguments: [
            ("hello+", BodyFraming.length(5), "hello"),
            ("5\r\nhello\r\n0\r\n\r\n+", .chunked, "hello"),
            ("2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nX: y\r\n\r\n+", .chunked, "hello"),
            ("A\r\n0123456789\r\n0\r\n\r\n+", .chunked, "0123456789"),
        ])
    func complete(text: String, framing: BodyFraming, content: String) throws {
        for split in 0..<(text.utf8.count - 1) {
            let result = try #require(try read(text, framing, split: split))
            #expect(result.0 == content)
            #expect(result.1 == text.utf8.count - 1)
        }
    }

    @Test(
        "is refused when malformed or too long",
        arguments: [
            ("5\nhello", RequestError.malformed), ("\r\n", .malformed), ("g\r\n", .malformed),
            ("5 \r\nhello", .malformed),
            ("2\r\nhello", .malformed), ("0x2\r\nhe", .malformed), ("-1\r\n", .malformed),
            ("41\r\n", .bodyTooLarge),
            ("ffffffffffffffffff\r\n", .bodyTooLarge), ("0\r\n bad: x\r\n\r\n", .malformed),
        ])
    func refused(text: String, error: RequestError) {
        #expect(throws: error) { try read(text, .chunked) }
    }

    @Test("is refused by its declared length already")
    func declaredLength() {
        #expect(throws: RequestError.bodyTooLarge) { try ContentReader(.length(65), maxBytes: 64) }
    }
}
