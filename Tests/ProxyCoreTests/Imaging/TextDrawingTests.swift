// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Imaging

@Suite("A drawing of text")
struct TextDrawingTests {
    @Test(
        "shows markup as it is written, also where Unicode joins it to other code points",
        arguments: [
            "<span size=\"200000\">M</span>",
            // A prepended mark (U+0600) and a combining one (U+0301) make one Character of all that they touch.
            "\u{600}<span size=\"200000\"\u{600}>\u{301}M\u{600}</span\u{600}>\u{301}",
            "\u{600}&\u{301}amp;",
        ])
    func markup(text: String) throws {
        let drawing = try VipsImage.text(text, font: "sans 10", width: 10_000)

        #expect(drawing.size.height < 40)
    }
}
