// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import ImageProxyd

@Suite("Coding of settings")
struct SettingsCodingTests {
    private struct Everything: Codable, Equatable {
        enum Choice: String, Codable, CaseIterable { case first, second }
        struct Inner: Codable, Equatable { var deep = [1, 2] }

        var zulu = "last letter first"
        var flag = true
        var small: UInt8 = 7
        var ratio = 0.5
        var choice = Choice.first
        var optional: String?
        var optionalInner: Inner?
        var inner = Inner()
        var table = ["a": 1]
        var list = [Choice.second]
    }

    @Test("Members are encoded in the order of declaration, nil as null")
    func order() throws {
        let tree = try SettingsEncoder.encode(Everything())

        #expect(
            tree.compact == """
                {"zulu": "last letter first", "flag": true, "small": 7, "ratio": 0.5, "choice": "first", \
                "optional": null, "optionalInner": null, "inner": {"deep": [1, 2]}, "table": {"a": 1}, \
                "list": ["second"]}
                """)
    }

    @Test("Encoded settings decode to the same values")
    func roundTrip() throws {
        var value = Everything()
        value.optional = "x"
        value.optionalInner = .init(deep: [])

        #expect(try SettingsDecoder.decode(Everything.self, from: SettingsEncoder.encode(value)) == value)
        #expect(
            try SettingsDecoder.decode(Everything.self, from: SettingsEncoder.encode(Everything()))
                == Everything())
    }

    @Test(
        "A value of the wrong type is answered with what is allowed",
        arguments: [
            ("small", .integer(256), "expected a whole number"),
            ("small", .number(1.5), "expected a whole number"),
            ("ratio", .string("1"), "expected a number"), ("flag", .integer(1), "expected true or false"),
            ("zulu", .null, "expected text"), ("choice", .string("third"), "expected one of first, second"),
            ("list", .array([.string("first"), .integer(1)]), "expected one of first, second"),
            ("inner", .array([]), "expected an object"), ("list", .object([]), "expected a list"),
        ] as [(String, JSONValue, String)])
    func mismatches(name: String, value: JSONValue, message: String) throws {
        let tree = try SettingsEncoder.encode(Everything()).replacing([name], with: value)

        do {
            _ = try SettingsDecoder.decode(Everything.self, from: tree)
            Issue.record("decoded \(value)")
        } catch DecodingError.dataCorrupted(let context) {
            #expect(context.debugDescription == message)
            #expect(context.codingPath.first?.stringValue == name)
        }
    }
}
