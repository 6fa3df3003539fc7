// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Primitives

@Suite("The explanation of a failure")
struct ExplanationTests {
    @Test("A decoded text is cut at its bound, and contains printable ASCII alone")
    func bounds() throws {
        let sent = try JSONEncoder().encode(["\u{1B}[2J\u{E9}" + String(repeating: "a", count: 100_000)])

        let decoded = try JSONDecoder().decode([Explanation].self, from: sent)

        let text = try #require(decoded.first?.text)
        #expect(text.utf8.count == Explanation.maxBytes)
        #expect(text.hasPrefix("?[2J??aaa"))
    }

    @Test("A line break at the end goes, one inside is a space")
    func lines() {
        #expect(Explanation("VipsJpeg: broken\nsource: short\n").text == "VipsJpeg: broken source: short")
    }

    @Test("A short text is decoded as it was encoded")
    func short() throws {
        let sent = try JSONEncoder().encode([Explanation("limits.frames is 10")])

        #expect(try JSONDecoder().decode([Explanation].self, from: sent).first?.text == "limits.frames is 10")
    }
}
