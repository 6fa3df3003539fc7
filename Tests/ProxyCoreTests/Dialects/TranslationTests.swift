// SPDX-License-Identifier: Apache-2.0

import Dialects
import Testing

@Suite("Translations of foreign URLs")
struct TranslationTests {
    @Test("A target is divided at its first question mark")
    func division() {
        #expect(ForeignTarget("/a/b?c=1?2") == ForeignTarget(path: "/a/b", query: "c=1?2"))
        #expect(ForeignTarget("/a/b") == ForeignTarget(path: "/a/b", query: nil))
    }

    @Test("A translation is shown as a target whose values are encoded once")
    func target() {
        var translation = Translation()
        translation["url"] = "https://example.org/a b.jpg?x=1&y=ü"
        translation["transform"] = "resize:300x200:cover,flip:h"
        #expect(
            translation.target
                == "/img?url=https://example.org/a%20b.jpg%3Fx=1%26y=%C3%BC&transform=resize:300x200:cover,flip:h"
        )
        translation["url"] = nil
        #expect(translation["url"] == nil)
        #expect(translation.parameters.map(\.name) == ["transform"])
    }
}
