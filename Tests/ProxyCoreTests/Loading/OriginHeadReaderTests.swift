// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("The reader of a response's head")
struct OriginHeadReaderTests {
    @Test("collects fields in order, names in lower case, values without outer white space (RFC 9110 §5.5)")
    func fields() {
        let (steps, reader) = read([
            "HTTP/1.1 200 OK\r\n", "Content-Type: image/png \r\n", "X-A:\t1\r\n", "\r\n",
        ])

        #expect(steps == [.more, .more, .more, .complete(status: 200)])
        #expect(reader.fields.map(\.name) == ["content-type", "x-a"])
        #expect(reader.fields.map(\.value) == ["image/png", "1"])
    }

    @Test("ignores white space before a colon, and reports it for fields that frame the body (RFC 9112 §5.1)")
    func blankBeforeColon() {
        let (_, reader) = read(["HTTP/1.1 200 OK\r\n", "Cache-Control \t: private\r\n", "\r\n"])
        let (_, hiding) = read(["HTTP/1.1 200 OK\r\n", "Content-Length : 5\r\n", "\r\n"])

        #expect(reader.fields == [HeaderField(name: "cache-control", value: "private")])
        #expect(!reader.hidesFraming)
        #expect(hiding.hidesFraming)
    }

    @Test("reads the status of HTTP/2, which has no reason phrase")
    func http2() {
        #expect(read(["HTTP/2 404 \r\n", "\r\n"], isHTTP2: true).steps.last == .complete(status: 404))
    }

    @Test(
        "refuses a status line of another version than the connection's (RFC 9112 §4)",
        arguments: [
            ("HTTP/2 200 ", false), ("HTTP/2.0 200 OK", false), ("HTTP/1.2 200 OK", false),
            ("HTTP/1.10 200 OK", false), ("HTTP/0.9 200 OK", false), ("HTTP/3 200", false),
            ("HTTP 200 OK", false), (" HTTP/1.1 200 OK", false), ("http/1.1 200 OK", false),
            ("HTTP/1.1  200 OK", false), ("HTTP/1.1 20", false), ("HTTP/1.1\t200 OK", false), ("", false),
            ("Content-Type: image/png", false), ("HTTP/1.1 200 OK", true), ("HTTP/2.0 200 OK", true),
        ])
    func otherVersion(line: String, isHTTP2: Bool) {
        let interim = isHTTP2 ? "HTTP/2 103 \r\n" : "HTTP/1.1 103 Early\r\n"

        #expect(read([line + "\r\n"], isHTTP2: isHTTP2).steps == [.noStatusLine])
        #expect(read([interim, "\r\n", line + "\r\n"], isHTTP2: isHTTP2).steps.last == .noStatusLine)
    }

    @Test("ignores a second status line within a head", arguments: ["HTTP/1.1 404 Not: here"])
    func secondStatusLine(line: String) {
        let (steps, _) = read(["HTTP/1.1 200 OK\r\n", line + "\r\n", "\r\n"])

        #expect(steps.last == .complete(status: 200))
    }

    @Test("starts again after an interim response (RFC 9110 §15.2)")
    func interim() {
        let (steps, reader) = read([
            "HTTP/1.1 103 Early\r\n", "Link: x\r\n", "\r\n", "HTTP/1.1 200 OK\r\n", "A: b\r\n", "\r\n",
        ])

        #expect(steps == [.more, .more, .more, .more, .more, .complete(status: 200)])
        #expect(reader.fields.map(\.name) == ["a"])
    }

    @Test("joins a folded line with the one before (RFC 9112 §5.2)")
    func folded() {
        let (_, reader) = read(["HTTP/1.1 200 OK\r\n", " lost\r\n", "A: b\r\n", "\t c\r\n", "\r\n"])

        #expect(reader.fields.map(\.value) == ["b c"])
    }

    @Test("drops lines without a name, and trailers after the body (RFC 9110 §6.5)")
    func dropped() {
        let (steps, reader) = read([
            "HTTP/1.1 200 OK\r\n", ": x\r\n", "nonsense\r\n", "\r\n", "Late: x\r\n", "\r\n",
        ])

        #expect(steps.suffix(2) == [.more, .more])
        #expect(reader.fields.isEmpty)
    }

    @Test("refuses heads beyond its limit, including interim responses and trailers")
    func bound() {
        let interim = ["HTTP/1.1 100 Continue\r\n", "\r\n"]
        let (steps, _) = read(interim + interim + interim + interim)

        #expect(steps.last == .tooLarge)
    }

    @Test("returns the body's length only if it is declared unambiguously (RFC 9112 §6.3)")
    func contentLength() {
        let length = ("content-length", "12")

        #expect(declared([length]) == 12)
        #expect(declared([length, length]) == 12)
        #expect(declared([length, ("content-encoding", "identity")]) == 12)
        #expect(declared([length, ("content-length", "13")]) == nil)
        #expect(declared([length, ("content-encoding", "gzip")]) == nil)
        #expect(declared([length, ("transfer-encoding", "chunked")]) == nil)
        for value in ["", "+12", "-12", "12,12", "0x12", "99999999999999999999"] {
            #expect(declared([("content-length", value)]) == nil)
        }
    }

    @Test("A head of more lines than a response may have is too large, however short they are")
    func tooManyLines() {
        var reader = OriginHeadReader(maxBytes: .kibibytes(64))
        let field = Array("a:\r\n".utf8)
        var steps = [Array("HTTP/1.1 200 OK\r\n".utf8).withUnsafeBytes { reader.read($0) }]
        for _ in 0..<OriginHeadReader.maxLines { steps.append(field.withUnsafeBytes { reader.read($0) }) }
        #expect(steps.dropLast().allSatisfy { $0 == .more })
        #expect(steps.last == .tooLarge)
    }

    private func declared(_ fields: [(String, String)]) -> Int? {
        OriginHead.contentLength(in: fields.map { HeaderField(name: $0.0, value: $0.1) })
    }

    private func read(
        _ lines: [String], isHTTP2: Bool = false
    ) -> (steps: [OriginHeadReader.Step], reader: OriginHeadReader) {
        var reader = OriginHeadReader(maxBytes: ByteCount(90))
        reader.isHTTP2 = isHTTP2
        let steps = lines.map { line in Array(line.utf8).withUnsafeBytes { reader.read($0) } }
        return (steps, reader)
    }
}
