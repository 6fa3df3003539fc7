// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("Field lines (RFC 9112 §5, RFC 9110 §5)")
struct FieldLineTests {
    @Test(
        "White space around a value is not part of it (RFC 9112 §5.1)",
        arguments: [("X:b", "b"), ("X: \t b \t ", "b"), ("X:", ""), ("X: \t", ""), ("X: b  c\td", "b  c\td")])
    func surroundingSpace(line: String, value: String) throws {
        let name = try #require(FieldName("x"))

        #expect(HeadReading(head("\(line)\r\n")).request.values(of: name) == [value])
    }

    @Test("Names are compared without case, and lines keep their order (RFC 9110 §5.1, §5.3)")
    func repeatedNames() throws {
        let request = HeadReading(head("x-A: 1\r\nACCEPT: 2\r\nX-a: 3\r\naccept: 4\r\n")).request

        #expect(request.values(of: try #require(FieldName("X-A"))) == ["1", "3"])
        #expect(request.values(of: .accept) == ["2", "4"])
        #expect(request.withFirstValue(of: .accept) { $0.count } == 1)
        #expect(request.has(.accept))
        #expect(!request.has(.range))
        #expect(!request.has(try #require(FieldName("X-B"))))
    }

    @Test("Every token character may occur in a name (RFC 9110 §5.6.2)")
    func tokens() throws {
        let name = "!#$%&'*+-.^_`|~09azAZ"

        #expect(
            HeadReading(head("\(name): 1\r\n")).request.values(of: try #require(FieldName(name))) == ["1"])
    }

    @Test(
        "White space between name and colon is 400 (RFC 9112 §5.1)",
        arguments: ["X : b", "X\t: b", "Host : a", "X  :b"])
    func spaceBeforeColon(line: String) {
        #expect(HeadReading(head("\(line)\r\n")).error == .malformed)
    }

    @Test(
        "A folded line is 400, also right after the request line (RFC 9112 §5.2, §2.2)",
        arguments: [
            "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n\tc\r\n\r\n",
            "GET / HTTP/1.1\r\n Host: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n \r\n\r\n",
            "GET / HTTP/1.1\r\n \r\nHost: a\r\n\r\n",
        ])
    func folding(text: String) {
        #expect(HeadReading(text).error == .malformed)
    }

    @Test(
        "A line without a name, or with a name that is not a token, is 400 (RFC 9110 §5.1)",
        arguments: [
            ": b", ":", "X", "X(: b", "X@Y: b", "X\u{E9}: b", "\"X\": b", "X\0: b", "X,Y: b", "{X}: b",
            "X\u{7F}: b",
        ])
    func names(line: String) {
        #expect(HeadReading(head("\(line)\r\n")).error == .malformed)
    }

    @Test("A control character in a value is 400; a tab is allowed (RFC 9110 §5.5)")
    func controls() {
        for octet in UInt8.min ... .max {
            // At the places where eight octets are tested together, and where they are not.
            for place in [0, 3, 7, 8, 15, 16, 18] {
                var value = Array(repeating: UInt8(ascii: "b"), count: 19)
                value[place] = octet
                let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\nX: b".utf8) + value + Array("b\r\n\r\n".utf8)
                let (outcome, _) = HeadReading.read(bytes, RequestLimits(), pieces: [])
                let isControl = octet < 0x20 && octet != 0x09 || octet == 0x7F
                #expect((outcome == .failed(.malformed)) == isControl, "\(octet) at \(place)")
            }
        }
    }

    @Test("Octets beyond ASCII are opaque in a value (RFC 9110 §5.5)")
    func opaqueText() throws {
        let bytes =
            Array("GET / HTTP/1.1\r\nHost: a\r\nX: ".utf8) + [0x80, 0xFF, 0xC3, 0xA9] + Array("\r\n\r\n".utf8)
        let name = try #require(FieldName("X"))

        let value = HeadReading(bytes).request.withFirstValue(of: name) { Array($0) }

        #expect(value == [0x80, 0xFF, 0xC3, 0xA9])
    }

    @Test("Every known field name is recognized in any case, and no other name is")
    func knownFields() {
        for field in KnownField.allCases {
            let name = Array("\(field.name)".utf8)
            for spelling in [name, name.map { $0 | 0x20 }, Array("\(field.name)".uppercased().utf8)] {
                #expect(KnownField(spelling.span, 0..<spelling.count) == field)
            }
            for index in name.indices {
                var other = name
                other[index] = UInt8(ascii: "#")
                #expect(KnownField(other.span, 0..<other.count) == nil)
            }
            #expect(FieldName("\(field.name)".uppercased())?.known == field)
        }
    }
}
