// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import Dialects

@Suite("Translations of dialects' URLs")
struct TranslationTests {
    @Test("A target is divided at its first question mark")
    func division() {
        let target = DialectTarget("/a/b?c=1?2")
        #expect(target.path == "/a/b" && target.query == "c=1?2")
        #expect(DialectTarget("/a/b").query == nil)
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

    @Test("A base without a scheme, and an option that there is not, are refused with the settings")
    func settings() {
        var cloudflare = Cloudflare.Settings()
        cloudflare.base = "www.example.org/"
        var imgix = Imgix.Settings()
        imgix.base = "/bucket"
        var nextJS = NextJS.Settings()
        nextJS.base = "127.0.0.1:3000"
        var imgproxy = ImgproxyDialect.Settings()
        imgproxy.baseURL = "example.org"
        var named = ImgproxyDialect.Settings()
        named.allowedOptions = ["rs", "gradient", "foo"]

        for (option, create) in [
            ("base", { _ = try Cloudflare(cloudflare) }), ("base", { _ = try Imgix(imgix) }),
            ("base", { _ = try NextJS(nextJS) }), ("baseURL", { _ = try ImgproxyDialect(imgproxy) }),
            ("allowedOptions.2", { _ = try ImgproxyDialect(named) }),
        ] as [(String, () throws -> Void)] {
            let error = #expect(throws: TranslationError.self) { try create() }
            #expect(error?.option == option && error?.kind == .invalid)
        }
    }
}
