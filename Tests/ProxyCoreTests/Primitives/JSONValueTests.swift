// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Primitives

@Suite("Values of JSON")
struct JSONValueTests {
    @Test(
        "A side is a whole number of pixels from 1 to a million",
        arguments: [
            (JSONValue.integer(1), 1), (.integer(1_000_000), 1_000_000), (.integer(0), nil),
            (.integer(-1), nil), (.integer(1_000_001), nil), (.integer(.max), nil), (.number(2), nil),
            (.string("2"), nil), (.bool(true), nil), (.null, nil), (.array([.integer(2)]), nil),
        ] as [(JSONValue, Int?)])
    func side(value: JSONValue, expected: Int?) {
        let object: JSONValue = ["width": value]

        #expect(object.side("width") == expected)
    }

    @Test("Without the member, or an object, there is no side")
    func noSide() {
        #expect(JSONValue.object([]).side("width") == nil && JSONValue.integer(3).side("width") == nil)
    }
}
