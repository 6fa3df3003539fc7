// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("How content is delimited (RFC 9112 §6)")
struct FramingTests {
    @Test(
        "Content-Length is a number in decimal digits (RFC 9110 §8.6)",
        arguments: [
            ("0", BodyFraming.none), ("00", .none), ("12", .length(12)), ("007", .length(7)),
            (" 5 \t", .length(5)), ("999999999999999999", .length(999_999_999_999_999_999)),
        ])
    func contentLength(value: String, framing: BodyFraming) {
        #expect(HeadReading(head("Content-Length: \(value)\r\n", method: "POST")).framing?.body == framing)
    }

    @Test(
        "A Content-Length with a sign, in a list, too large, or otherwise not a number is 400 (RFC 9112 §6.3)",
        arguments: [
            "", "+1", "-1", "1,1", "5, 5", "1, 2", "1 1", "0x1", "1.0", "1e1", "a", "1a", ",1", "1,",
            "\u{664}",
            "99999999999999999999", "18446744073709551617", "9223372036854775808", "0000000000000000001",
            "\"1\"",
        ])
    func badContentLength(value: String) {
        #expect(HeadReading(head("Content-Length: \(value)\r\n", method: "POST")).error == .malformed)
    }

    @Test("Content-Length on two lines is 400, also if both are equal (RFC 9112 §6.3)")
    func repeatedContentLength() {
        let equal = "Content-Length: 1\r\ncontent-length: 1\r\n"

        #expect(HeadReading(head(equal, method: "POST")).error == .malformed)
        #expect(HeadReading(head("Content-Length: 1\r\nContent-Length: 2\r\n")).error == .malformed)
        #expect(HeadReading(head("Content-Length: 0\r\nContent-Length: 0\r\n")).error == .malformed)
    }

    @Test("Without either field there is no content, whatever the method (RFC 9112 §6.3)")
    func noContent() {
        for method in ["GET", "POST", "PUT", "DELETE"] {
            #expect(HeadReading(head(method: method)).framing?.body == BodyFraming.none)
        }
    }

    @Test("Any method but TRACE may have content, GET included (RFC 9110 §9.3.1, §9.3.8)")
    func contentOfAnyMethod() {
        #expect(HeadReading(head("Content-Length: 3\r\n")).framing?.body == .length(3))
        #expect(HeadReading(head("Content-Length: 3\r\n", method: "HEAD")).framing?.body == .length(3))
        #expect(HeadReading(head("Content-Length: 3\r\n", method: "TRACE")).error == .malformed)
        #expect(HeadReading(head("Transfer-Encoding: chunked\r\n", method: "TRACE")).error == .malformed)
        #expect(HeadReading(head(method: "TRACE")).request.method == .trace)
    }

    @Test(
        "The chunked coding is recognized in any case (RFC 9112 §7)",
        arguments: ["chunked", "Chunked", "CHUNKED", " chunked\t"])
    func chunked(value: String) {
        #expect(
            HeadReading(head("Transfer-Encoding: \(value)\r\n", method: "POST")).framing?.body == .chunked)
    }

    @Test("Transfer-Encoding with Content-Length is 400 in either order (RFC 9112 §6.1, §6.3)")
    func bothLengths() {
        let (coding, length) = ("Transfer-Encoding: chunked\r\n", "Content-Length: 1\r\n")

        #expect(HeadReading(head(coding + length, method: "POST")).error == .malformed)
        #expect(HeadReading(head(length + coding, method: "POST")).error == .malformed)
        #expect(HeadReading(head("Transfer-Encoding: gzip\r\n" + length)).error == .malformed)
        #expect(HeadReading(head("Content-Length: 0\r\n" + coding)).error == .malformed)
        #expect(HeadReading(head("Content-Length: x\r\n" + coding)).error == .malformed)
    }

    @Test("Transfer-Encoding in HTTP/1.0 is 400 (RFC 9112 §6.1)")
    func http10() {
        #expect(HeadReading("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n").error == .malformed)
        #expect(HeadReading("POST / HTTP/1.0\r\nTransfer-Encoding: gzip\r\n\r\n").error == .malformed)
    }

    @Test(
        "An unknown coding is 501, alone or before chunked (RFC 9112 §6.1)",
        arguments: [
            "gzip, chunked", "deflate,chunked", "x-gzip;a=b, chunked", "foo", "foo, chunked", "identity",
            "xchunked",
            "chunkedx", "foo, gzip", "identity, chunked",
        ])
    func unknownCodings(value: String) {
        #expect(HeadReading(head("Transfer-Encoding: \(value)\r\n", method: "POST")).error == .notImplemented)
    }

    @Test("Codings on several lines are one list (RFC 9110 §5.3)")
    func severalLines() {
        let (gzip, chunked) = ("Transfer-Encoding: gzip\r\n", "Transfer-Encoding: chunked\r\n")

        #expect(HeadReading(head(gzip + chunked, method: "POST")).error == .notImplemented)
        #expect(HeadReading(head(chunked + gzip, method: "POST")).error == .malformed)
        #expect(HeadReading(head(chunked + chunked, method: "POST")).error == .malformed)
    }

    @Test(
        "Chunked that is not last, or not once, or missing after a registered coding, is 400 (RFC 9112 §6.3, §7.1)",
        arguments: [
            "chunked, chunked", "chunked, gzip", "chunked, foo", "gzip", "gzip, deflate",
            "gzip, chunked, chunked",
            "chunked, identity",
        ])
    func chunkedNotLast(value: String) {
        #expect(HeadReading(head("Transfer-Encoding: \(value)\r\n", method: "POST")).error == .malformed)
    }

    @Test(
        "A Transfer-Encoding that recipients could interpret differently is 400 (RFC 9112 §7)",
        arguments: [
            "", ",", ", chunked", "chunked,", "chunked;", "chunked;a=b", "chunked ;a", "chun ked",
            "\"chunked\"",
            "chunked\u{A0}", "gzip,,chunked", "(chunked)", ";chunked", "chunked chunked", "=chunked",
        ])
    func ambiguousCodings(value: String) {
        #expect(HeadReading(head("Transfer-Encoding: \(value)\r\n", method: "POST")).error == .malformed)
    }

    @Test("Content-Length and Transfer-Encoding with a space before the colon are 400 (RFC 9112 §5.1)")
    func spaceBeforeColon() {
        #expect(HeadReading(head("Content-Length : 1\r\n", method: "POST")).error == .malformed)
        #expect(HeadReading(head("Transfer-Encoding : chunked\r\n", method: "POST")).error == .malformed)
        #expect(HeadReading(head("Transfer-Encoding\u{B}: chunked\r\n", method: "POST")).error == .malformed)
    }
}
