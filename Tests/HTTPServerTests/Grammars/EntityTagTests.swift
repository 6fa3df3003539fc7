// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("Entity tags (RFC 9110 §8.8.3)")
struct EntityTagTests {
    @Test(
        "A tag is quoted, and weak after W/ (RFC 9110 §8.8.3)",
        arguments: [
            ("\"a\"", false), ("W/\"a\"", true), ("\"\"", false), ("\"a,b;W/\\'\"", false),
            ("\"\u{E9}\"", false),
        ])
    func wellFormed(text: String, isWeak: Bool) throws {
        let tag = try #require(EntityTag(text.utf8))

        #expect(tag.isWeak == isWeak)
        #expect(tag.fieldValue.bytes == Array(text.utf8))
    }

    @Test(
        "Anything else is not a tag (RFC 9110 §8.8.3)",
        arguments: [
            "", "a", "\"", "\"a", "a\"", "w/\"a\"", "W/a", "W\"a\"", "\"a b\"", "\"a\"b\"", "\"a\" ",
            " \"a\"", "*",
            "\"\u{7F}\"", "\"a\r\n\"", "'a'", "W/", "\"a\"\"b\"",
        ])
    func malformed(text: String) {
        #expect(EntityTag(text.utf8) == nil)
    }

    @Test("The opaque part contains no quote, space or control, so that it can inject nothing")
    func opaque() {
        #expect(EntityTag(opaque: "abc".utf8)?.fieldValue == FieldValue("\"abc\""))
        #expect(EntityTag(opaque: "abc".utf8, isWeak: true)?.fieldValue == FieldValue("W/\"abc\""))
        for text in ["a\"", "a b", "a\r\nX: b", "\u{7F}", "a\tb"] {
            #expect(EntityTag(opaque: text.utf8) == nil)
        }
    }

    @Test(
        "Strong comparison needs two strong tags, weak comparison equal ones (RFC 9110 §8.8.3.2)",
        arguments: [
            ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false),
            ("W/\"1\"", "\"1\"", false, true),
            ("\"1\"", "\"1\"", true, true), ("\"1\"", "\"2\"", false, false),
        ])
    func comparison(left: String, right: String, strong: Bool, weak: Bool) throws {
        for (tag, value) in [(left, right), (right, left)] {
            let tag = try #require(EntityTag(tag.utf8))

            #expect(EntityTagList.line(Array(value.utf8).span, names: tag, by: .strong) == strong)
            #expect(EntityTagList.line(Array(value.utf8).span, names: tag, by: .weak) == weak)
        }
    }

    @Test(
        "A list matches a tag that it contains; * matches any (RFC 9110 §13.1.2)",
        arguments: [
            ("\"a\"", true), ("\"b\", \"a\"", true), ("\"b\",\"a\" , \"c\"", true), (", ,\"a\",", true),
            ("*", true),
            ("W/\"a\"", true), ("\"a,b\", \"a\"", true), ("\"b\"", false), ("\"a,b\"", false),
            ("\"A\"", false),
            ("\"\"", false),
        ])
    func lists(value: String, matches: Bool) throws {
        let tag = try #require(EntityTag("\"a\"".utf8))
        let names = EntityTagList.line(Array(value.utf8).span, names: tag, by: .weak)
        #expect(names == matches)
    }

    @Test(
        "A malformed list matches nothing (RFC 9110 §13.1.2)",
        arguments: [
            "", "a", "\"a\" \"b\"", "\"a\"b", "\"a\", b", "\"a", "*, \"a\"", "\"a\", *", "**", "\"a\";",
            "w/\"a\"", ",",
        ])
    func malformedLists(value: String) throws {
        let tag = try #require(EntityTag("\"a\"".utf8))
        let names = EntityTagList.line(Array(value.utf8).span, names: tag, by: .weak)
        #expect(!names)
    }
}

extension EntityTag {
    /// Parses a tag with its quotes, `"a"` or `W/"a"`; nil for anything else.
    init?(_ text: some Sequence<UInt8>) {
        let bytes = Array(text)
        guard let (tag, end) = Self.read(bytes.span, from: 0), end == bytes.count else { return nil }
        self.init(opaque: bytes[tag], isWeak: tag.lowerBound > 1)
    }
}
