// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import Primitives

@Suite("JSON")
struct JSONParserTests {
    private func parse(_ text: String) throws(JSONSyntaxError) -> JSONValue {
        var parser = JSONParser(Array(text.utf8))
        return try parser.parse()
    }

    @Test(
        "Values are parsed as written (RFC 8259)",
        arguments: [
            ("null", .null), (" true ", .bool(true)), ("false", .bool(false)), ("0", .integer(0)),
            ("-7", .integer(-7)),
            ("1.5e3", .number(1_500)), ("-0.25", .number(-0.25)), ("9223372036854775807", .integer(.max)),
            ("9223372036854775808", .number(9_223_372_036_854_775_808)), ("\"\"", .string("")),
            ("\"a\\n\\u00e4\\ud83d\\ude00ö\\/\"", .string("a\nä😀ö/")),
            ("[]", .array([])), ("[1, \"a\",[null]]", .array([.integer(1), .string("a"), .array([.null])])),
            ("{}", .object([])),
            (
                "{\"b\":1,\"a\":{}}",
                .object([.init(name: "b", value: .integer(1)), .init(name: "a", value: .object([]))])
            ),
        ] as [(String, JSONValue)])
    func values(text: String, value: JSONValue) throws {
        #expect(try parse(text) == value)
    }

    @Test(
        "Invalid JSON is refused with its position",
        arguments: [
            ("", "1:1"), ("  ", "1:3"), ("{\n  \"a\": 1,\n}", "3:1"), ("[1,]", "1:4"),
            ("{\"a\":1 \"b\":2}", "1:8"),
            ("{\"a\" 1}", "1:6"), ("{a:1}", "1:2"), ("{'a':1}", "1:2"), ("[1 2]", "1:4"), ("nul", "1:1"),
            ("1 2", "1:3"),
            ("01", "1:1"), ("+1", "1:1"), (".5", "1:1"), ("1.", "1:1"), ("1e", "1:1"), ("-", "1:1"),
            ("NaN", "1:1"),
            ("1e999", "1:1"), ("\"a", "1:3"), ("\"a\nb\"", "1:3"), ("\"\\x\"", "1:2"), ("\"\\u12\"", "1:2"),
            ("\"\\ud800\"", "1:2"), ("\"\\ud800\\u0041\"", "1:2"), ("\"\\udc00\"", "1:2"), ("// a\n1", "1:1"),
            ("{\"a\": 1, /* b */ \"c\": 2}", "1:10"), ("{\"a\":1,\n \"a\":2}", "2:2"), ("{\"a\":", "1:6"),
            ("[", "1:2"),
        ])
    func refusals(text: String, place: String) {
        let error = #expect(throws: JSONSyntaxError.self) { try parse(text) }
        #expect(error?.position.description == place, "\(error?.message ?? "")")
    }

    @Test("A byte order mark before the text is ignored (RFC 8259 §8.1), and is no column")
    func byteOrderMark() throws {
        #expect(try parse("\u{FEFF}{\"a\": 1}") == .object([.init(name: "a", value: .integer(1))]))
        let error = #expect(throws: JSONSyntaxError.self) { try parse("\u{FEFF}{a:1}") }
        #expect(error?.position.description == "1:2")
        #expect(throws: JSONSyntaxError.self) { try parse("{} \u{FEFF}") }
    }

    @Test("Depth is bounded, so that brackets can't exhaust the stack")
    func depth() {
        #expect(throws: JSONSyntaxError.self) { try parse(String(repeating: "[", count: 1_000_000)) }
    }

    @Test("Bytes that are not UTF-8 are refused")
    func encoding() {
        var parser = JSONParser([0x22, 0xFF, 0x22])
        #expect(throws: JSONSyntaxError.self) { try parser.parse() }
    }

    @Test("Every prefix of a file ends in an error, never in a crash")
    func prefixes() throws {
        let text = Array(#"{"a": [1, -0.5, {"b\u00fc": true}], "c": {"d": null, "e": "f\n"}, "g": []}"#.utf8)
        for count in 0..<text.count {
            var parser = JSONParser(Array(text.prefix(count)))
            #expect(throws: JSONSyntaxError.self) { try parser.parse() }
        }
    }

    @Test("Written values are read back unchanged")
    func roundTrip() throws {
        let value = JSONValue.object([
            .init(name: "a \"\\\n\u{1}", value: .array([.bool(true), .null, .number(0.1), .string("ü\t")])),
            .init(name: "b", value: .object([.init(name: "c", value: .integer(-1))])),
        ])

        #expect(try parse(value.pretty()) == value)
        #expect(try parse(value.compact) == value)
    }
}
