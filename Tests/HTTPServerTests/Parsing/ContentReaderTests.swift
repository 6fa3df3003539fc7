// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("The content of a request (RFC 9112 §6, §7.1)")
struct ContentReaderTests {
    enum Outcome: Equatable {
        case whole(String, octets: Int)
        case needsMore
        case failed(RequestError)
    }

    private func outcome(
        _ bytes: [UInt8], _ framing: BodyFraming, _ limits: RequestLimits, splits: [Int]
    ) -> Outcome {
        do throws(RequestError) {
            var reader = try ContentReader(framing, limits: limits)
            var consumed = 0
            for end in splits + [bytes.count] where !reader.isDone {
                consumed += try reader.read(bytes[consumed..<end].span)
            }
            return reader.isDone
                ? .whole(String(decoding: reader.content, as: UTF8.self), octets: consumed) : .needsMore
        } catch {
            return .failed(error)
        }
    }

    /// The result, the same wherever the bytes are split.
    private func read(
        _ text: String, _ framing: BodyFraming = .chunked, limits: RequestLimits = HeadReading.limits,
        _ location: SourceLocation = #_sourceLocation
    ) -> Outcome {
        let bytes = Array(text.utf8)
        let whole = outcome(bytes, framing, limits, splits: [])
        for splits in (0..<bytes.count).map({ [$0] }) + [Array(1..<max(1, bytes.count))] {
            #expect(outcome(bytes, framing, limits, splits: splits) == whole, sourceLocation: location)
        }
        return whole
    }

    @Test("Content ends at its declared length (RFC 9112 §6.2)")
    func fixedLength() {
        #expect(read("hello+", .length(5)) == .whole("hello", octets: 5))
        #expect(read("hell", .length(5)) == .needsMore)
        #expect(read("+", .length(0)) == .whole("", octets: 0))
        #expect(read("+", .none) == .whole("", octets: 0))
    }

    @Test("A declared length beyond the bound is 413 at once (RFC 9110 §15.5.14)")
    func declaredLength() {
        #expect(read("", .length(65)) == .failed(.bodyTooLarge))
        #expect(read("", .length(64)) == .needsMore)
    }

    @Test(
        "Chunks are joined up to the last, which is empty (RFC 9112 §7.1)",
        arguments: [
            ("0\r\n\r\n", ""), ("5\r\nhello\r\n0\r\n\r\n", "hello"),
            ("2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", "hello"),
            ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789"), ("a\r\n0123456789\r\n00\r\n\r\n", "0123456789"),
            ("000000000000005\r\nhello\r\n000\r\n\r\n", "hello"), ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n"),
            ("7\r\n0\r\n\r\nab\r\n0\r\n\r\n", "0\r\n\r\nab"),
        ])
    func chunks(text: String, content: String) {
        #expect(read(text + "+") == .whole(content, octets: text.utf8.count))
        #expect(read(String(text.unicodeScalars.dropLast())) == .needsMore)
    }

    @Test(
        "A chunk size that is not just hexadecimal digits is 400 (RFC 9112 §7.1)",
        arguments: [
            "\r\n", "g\r\n", "5 \r\nhello", " 5\r\nhello", "0x2\r\nhe", "-1\r\n", "+1\r\na", "5\t\r\nhello",
            "1_0\r\n",
            "5,\r\n", "\u{660}\r\n", ";a\r\n", "5\u{0}\r\n", "1.0\r\n",
        ])
    func badSizes(text: String) {
        #expect(read(text) == .failed(.malformed))
    }

    @Test("A chunk size that overflows is 413, and leading zeros are bounded (RFC 9112 §7.1)")
    func hugeSizes() {
        #expect(read("ffffffffffffffff\r\n") == .failed(.bodyTooLarge))
        #expect(read("10000000000000000\r\n") == .failed(.bodyTooLarge))
        #expect(read("7fffffffffffffff\r\n") == .failed(.bodyTooLarge))
        #expect(read("fffffffffffffff\r\n") == .failed(.bodyTooLarge))
        #expect(read("0000000000000001\r\n") == .failed(.bodyTooLarge))
    }

    @Test("Chunks that together exceed the bound are 413 before they are received (RFC 9110 §15.5.14)")
    func tooManyChunks() {
        #expect(read("41\r\n") == .failed(.bodyTooLarge))
        let full = "40\r\n" + String(repeating: "a", count: 64) + "\r\n"
        #expect(
            read(full + "0\r\n\r\n") == .whole(String(repeating: "a", count: 64), octets: full.utf8.count + 5)
        )
        #expect(read(full + "1\r\n") == .failed(.bodyTooLarge))
    }

    @Test(
        "Framing lines end with CR LF, and chunk data ends where its size says (RFC 9112 §7.1)",
        arguments: [
            "5\nhello\r\n0\r\n\r\n", "5\rhello\r\n", "2\r\nhello", "5\r\nhello\n0\r\n\r\n",
            "5\r\nhello0\r\n\r\n",
            "5\r\nhello\r0\r\n", "0\r\n\n", "0\n\r\n", "0\r\n\r\r\n", "5;a\nhello",
            "5\r\nhello\r\n\r\n0\r\n\r\n",
            "0\r\nX: y\n\r\n", "6\r\nhello\r\n0\r\n\r\n",
        ])
    func lineEnds(text: String) {
        #expect(read(text) == .failed(.malformed))
    }

    @Test(
        "Chunk extensions are read and dropped (RFC 9112 §7.1.1)",
        arguments: [
            "5;a\r\nhello", "5;a=b\r\nhello", "5;a=b;c;d=\"e\"\r\nhello", "5 ;a\r\nhello",
            "5\t; a = b ; c\r\nhello",
            "5;a=\";=\\\"\\\\ \t\"\r\nhello", "5;a=\"\"\r\nhello", "5;a=\"b\" ;c\r\nhello", "5;a ;b\r\nhello",
        ])
    func extensions(text: String) {
        let text = text + "\r\n0;last\r\n\r\n"

        #expect(read(text + "+") == .whole("hello", octets: text.utf8.count))
    }

    @Test(
        "A malformed chunk extension is 400 (RFC 9112 §7.1.1)",
        arguments: [
            "5;\r\n", "5;;a\r\n", "5;=b\r\n", "5;a=\r\n", "5;a b\r\n", "5;a=b c\r\n", "5;a=\"b\r\n",
            "5;a=\"b\"c\r\n",
            "5;a=b\"c\"\r\n", "5 a\r\n", "5;a==b\r\n", "5;a\u{0}\r\n", "5;a=\"\u{1}\"\r\n", "5;\u{E9}\r\n",
            "5;a \r\n",
            "5;a=b \r\n", "5; \r\n", "5;a=b=c\r\n", "5;a=\"\\\r\n", "5\"a\"\r\n", "5=a\r\n", "5;a=b;\r\n",
        ])
    func badExtensions(text: String) {
        #expect(read(text) == .failed(.malformed))
    }

    @Test(
        "The extensions of all chunks together are bounded; beyond the bound they are 413 (RFC 9112 §7.1.1)")
    func extensionBound() {
        let name = String(repeating: "a", count: 12)

        #expect(read("1;\(name)\r\na\r\n1;\(name)\r\na\r\n0\r\n\r\n") == .whole("aa", octets: 43))
        #expect(read("1;\(name)\r\na\r\n1;\(name)\r\na\r\n1;\(name)\r\n") == .failed(.bodyTooLarge))
        #expect(read("1;" + String(repeating: "a", count: 100)) == .failed(.bodyTooLarge))
    }

    @Test("Trailers are parsed as strictly as fields, and dropped (RFC 9112 §7.1.2)")
    func trailers() {
        let text = "1\r\na\r\n0\r\nX: y\r\nContent-Length: 7\r\nEmpty:\r\n\r\n"
        #expect(read(text + "+") == .whole("a", octets: text.utf8.count))
    }

    @Test(
        "A malformed trailer is 400 (RFC 9112 §7.1.2)",
        arguments: [
            "X : y\r\n", " X: y\r\n", "X\r\n", ": y\r\n", "X: \u{0}\r\n", "X: a\rb\r\n", "X: a\r\n b\r\n",
            "X(: y\r\n",
            "X: y\u{7F}\r\n",
        ])
    func badTrailers(lines: String) {
        #expect(read("0\r\n\(lines)\r\n") == .failed(.malformed))
    }

    @Test("Trailers are bounded in octets and lines; beyond the bound they are 431 (RFC 6585 §5)")
    func trailerBound() {
        #expect(read("0\r\nX: " + String(repeating: "a", count: 100)) == .failed(.headTooLarge))
        #expect(read("0\r\n" + String(repeating: "X:\r\n", count: 20)) == .failed(.headTooLarge))
        var limits = HeadReading.limits
        limits.fieldLines = 2
        #expect(read("0\r\na:\r\nb:\r\n\r\n", limits: limits) == .whole("", octets: 13))
        #expect(read("0\r\na:\r\nb:\r\nc:\r\n\r\n", limits: limits) == .failed(.headTooLarge))
    }
}
