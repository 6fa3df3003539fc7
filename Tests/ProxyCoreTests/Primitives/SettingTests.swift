// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Primitives

@Suite("Settings")
struct SettingTests {
    private struct Everything: SettingObject {
        enum Choice: String, SettingValue, CaseIterable { case first, second }
        struct Inner: SettingObject {
            var deep = [1, 2]

            static let settings = SettingTable<Self>("Deep.") {
                Setting("deep", \.deep, isRequired: true, "Numbers.")
            }
        }

        var text = "text"
        var flag = true
        var number = 7
        var ratio = 0.5
        var choice = Choice.first
        var optional: String?
        var optionalInner: Inner?
        var inner = Inner()
        var table = ["b": 1, "a": 2]
        var list = [Choice.second]
        var names = ["a"]

        static let settings = SettingTable<Self>("Everything.") {
            Setting("text", \.text, "Text.")
            Setting("flag", \.flag, reload: .needsRestart, "A flag.")
            Setting("number", \.number, in: 1...9, orZero: "none", "A number.")
            Setting("ratio", \.ratio, "A ratio.")
            Setting("choice", \.choice, "A choice.")
            Setting("optional", \.optional, "Text or nothing.")
            Setting("optionalInner", \.optionalInner, "An object or nothing.")
            Setting.group("inner", \.inner)
            Setting("table", \.table, "A table.")
            Setting("list", \.list, "A list.")
            Setting("names", \.names.texts, "Names.")
        }
    }

    private func row(_ path: String) throws -> Setting<Everything> {
        try #require(Everything.settings.rows.first { $0.path == path })
    }

    @Test("Values are written in the order of the rows, nil as null, tables by name")
    func order() {
        #expect(
            Everything.settings.json(of: Everything()).compact == """
                {"text": "text", "flag": true, "number": 7, "ratio": 0.5, "choice": "first", \
                "optional": null, "optionalInner": null, "inner": {"deep": [1, 2]}, "table": {"a": 2, "b": 1}, \
                "list": ["second"], "names": ["a"]}
                """)
    }

    @Test("A row reads what it has written")
    func roundTrip() throws {
        var value = Everything()
        value.optional = "x"
        value.optionalInner = .init(deep: [])
        value.inner.deep = [3]
        var other = Everything()

        for row in Everything.settings.rows { try row.set(&other, row.json(value)) }

        #expect(other == value)
        for row in Everything.settings.rows { row.copy(Everything(), &other) }
        #expect(other == Everything())
    }

    @Test(
        "A value of the wrong type is answered with each part that does not fit, and what is expected there",
        arguments: [
            ("number", .number(1.5), ["": "expected a whole number"]),
            ("ratio", .string("1"), ["": "expected a number"]),
            ("flag", .integer(1), ["": "expected true or false"]),
            ("text", .null, ["": "expected text"]),
            ("choice", .string("third"), ["": "expected one of first, second"]),
            (
                "list", .array([.integer(1), .string("first"), .null]),
                ["0": "expected one of first, second", "2": "expected one of first, second"]
            ),
            ("list", .object([]), ["": "expected a list"]),
            ("table", ["x": .null, "y": .integer(1)], ["x": "expected a whole number"]),
            ("names", .array([.integer(1)]), ["0": "expected text"]),
            ("optionalInner", .array([]), ["": "expected an object"]),
            ("optionalInner", [:], ["deep": "expected a value"]),
            (
                "optionalInner", ["deep": .array([.null]), "depp": .null],
                ["deep.0": "expected a whole number", "depp": "unknown key; expected one of deep"]
            ),
        ] as [(String, JSONValue, [String: String])])
    func mismatches(path: String, value: JSONValue, faults: [String: String]) throws {
        let row = try row(path)
        var everything = Everything()
        do throws(SettingMismatch) {
            try row.set(&everything, value)
            Issue.record("read \(value)")
        } catch {
            let found = error.faults.map { ($0.path.joined(separator: "."), $0.text) }
            #expect(Dictionary(uniqueKeysWithValues: found) == faults)
        }
        #expect(everything == Everything())
    }

    @Test("One text may stand for a list of texts, where the row says so")
    func oneText() throws {
        var everything = Everything()

        try row("names").set(&everything, .string("only"))

        #expect(everything.names == ["only"])
    }

    @Test("A number outside its range is refused, but not a zero that has a meaning")
    func ranges() throws {
        let number = try row("number")

        #expect(number.allowed == "1 to 9, or 0 for none")
        for (value, refused) in [(0, []), (1, []), (9, []), (10, ["10"]), (-1, ["-1"])] {
            var everything = Everything()
            everything.number = value
            #expect(number.refused(everything) == refused)
        }
    }

    @Test("A row takes part in a reload as its table says, unless it says otherwise itself")
    func reload() throws {
        #expect(try row("flag").reload == .needsRestart)
        #expect(try row("text").reload == .takes)
        #expect(try row("inner.deep").group == "Deep.")
    }
}
