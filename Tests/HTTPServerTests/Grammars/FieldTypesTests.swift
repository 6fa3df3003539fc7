// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("Fields of answers (RFC 9110 §5)")
struct FieldTypesTests {
    @Test("A value that contains a line end, or space at its ends, can't be created (RFC 9110 §5.5)")
    func values() {
        for text in ["a\r\nb", "a\nb", "a\rb", "a\0b", "\u{1}", "a\u{7F}", " a", "a ", "\ta", "a\t"] {
            #expect(FieldValue(text) == nil)
            #expect(FieldValue(Array(text.utf8)) == nil)
        }
        for text in ["", "a", "a b\tc", "\u{E9}", "\"a\", b;c=d"] {
            #expect(FieldValue(text)?.bytes == Array(text.utf8))
        }
        #expect(FieldValue(-17).bytes == Array("-17".utf8))
    }

    @Test("A name that is not a token can't be created (RFC 9110 §5.1)")
    func names() {
        for text in ["", "a b", "a:", "a\r\n", "\u{E9}", "a\0", "(a)", "a/b"] {
            #expect(FieldName(text) == nil)
        }
        #expect(FieldName("x-Custom_1") == FieldName("X-CUSTOM_1"))
        #expect(FieldName("ACCEPT") == .accept)
        #expect(Set([FieldName("a"), FieldName("A")]).count == 1)
    }

    @Test("Lines keep their order; setting one replaces all of its name (RFC 9110 §5.3)")
    func fields() throws {
        let value = try #require(FieldValue("v"))
        var fields = HTTPFields()
        fields.append(.vary, value)
        fields.append(.accept, value)
        fields.append(.vary, FieldValue(1))
        fields.set(.vary, text: "2")

        #expect(fields.bytes == Array("Accept: v\r\nVary: 2\r\n".utf8))
    }

    @Test("A status outside 100 to 599 is an internal error (RFC 9110 §15)")
    func statuses() {
        #expect(HTTPStatus(99).code == 500)
        #expect(HTTPStatus(600).code == 500)
        #expect(HTTPStatus(404).code == 404)
        #expect([100, 101, 204, 304].allSatisfy { HTTPStatus($0).forbidsBody })
        #expect(![200, 206, 400, 416].contains { HTTPStatus($0).forbidsBody })
    }
}
