// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import Request

@Suite("The query of a request")
struct QueryStringTests {
    private func items(_ query: String) throws -> [QueryItem] {
        try QueryString(parsing: Array(query.utf8)).items
    }

    @Test("is split into names and values, in order")
    func order() throws {
        #expect(try items("b=2&a=1") == [.init(name: "b", value: "2"), .init(name: "a", value: "1")])
    }

    @Test("is empty for no bytes")
    func empty() throws {
        #expect(try items("").isEmpty)
    }

    @Test("is percent-decoded once, and a plus sign is literal")
    func decoding() throws {
        #expect(try items("url=a%2Bb+c%2541").first?.value == "a+b+c%41")
    }

    @Test("keeps an equals sign inside a value")
    func equalsSign() throws {
        #expect(try items("url=http://a/?b=c").first?.value == "http://a/?b=c")
    }

    @Test(
        "names the invalid parameter and the position",
        arguments: [
            (
                "a=%4",
                ImageRequestError.invalidParameter(
                    name: "a", position: 0, reason: "'%' must be followed by two hexadecimal digits")
            ),
            (
                "a=xy%zz",
                .invalidParameter(
                    name: "a", position: 2, reason: "'%' must be followed by two hexadecimal digits")
            ),
            ("a=", .invalidParameter(name: "a", position: 0, reason: "the value is empty")),
            ("a", .invalidParameter(name: "a", position: 0, reason: "the value is empty")),
            ("a=1&a=2", .invalidParameter(name: "a", position: 0, reason: "given more than once")),
            ("a=%ff", .invalidParameter(name: "a", position: 0, reason: "not valid UTF-8")),
            (
                "a=1&&b=2",
                .unknownParameter(
                    name: "", hint: "a parameter is name=value, joined by a single '&'")
            ),
        ])
    func errors(query: String, error: ImageRequestError) {
        #expect(throws: error) { try items(query) }
    }

    @Test("has a maximum number of parameters, above the number of known ones")
    func bound() throws {
        let names = (0...QueryString.maxItems).map { "p\($0)" }
        let query = names.map { $0 + "=1" }.joined(separator: "&")

        #expect(ImageRequestParser.parameterNames.count < QueryString.maxItems)
        #expect(
            try items(names.dropLast().map { $0 + "=1" }.joined(separator: "&")).count == QueryString.maxItems
        )
        #expect(
            throws: ImageRequestError.invalidParameter(
                name: "p32", position: 0,
                reason: "at most 32 parameters; '&' in the source URL is written as %26")
        ) { try items(query) }
    }

    @Test("is reported by the beginning of a long name")
    func longNames() throws {
        let name = String(repeating: "ä", count: 2_000)
        let beginning = String(repeating: "ä", count: 64) + "…"

        #expect(
            throws: ImageRequestError.invalidParameter(
                name: beginning, position: 0, reason: "the value is empty")
        ) {
            try items(name + "=")
        }
        #expect(
            throws: ImageRequestError.invalidParameter(
                name: beginning, position: 0, reason: "given more than once")
        ) {
            try items("\(name)=1&\(name)=1")
        }
    }
}
