// SPDX-License-Identifier: Apache-2.0

import Dialects
import Primitives
import Testing

@Suite("imgproxy's URLs")
struct ImgproxyTests {
    private static let source = "plain/https://example.org/cat.jpg"

    private func dialect(
        _ change: (inout ImgproxyDialect.Settings) -> Void = { _ in }
    ) throws -> ImgproxyDialect {
        var settings = ImgproxyDialect.Settings()
        settings.watermark = "logo"
        change(&settings)
        return try ImgproxyDialect(settings)
    }

    @Test(
        "Options become operations in imgproxy's order of work",
        arguments: [
            ("rs:fit:300:200", "resize:size=300x200"), ("w:300", "resize:size=300x"), ("w:0/h:0", nil),
            ("rs:fill:300:200/g:no", "resize:size=300x200:mode=crop:gravity=north"),
            ("rs:fill:300:200:1", "resize:size=300x200:mode=cover:enlarge=1"),
            ("rs:fill-down:300:200", "resize:size=300x200:mode=cover"),
            ("rs:force:300", "resize:size=300x100pc:mode=fill"), ("rs:auto:3:2", "resize:size=3x2:mode=auto"),
            ("g:soea:10:0.25/rs:fill:9:9", "resize:size=9x9:mode=crop:gravity=southeast:x=10:y=25pc"),
            ("mw:50/z:2:0.5", "resize:minwidth=50:zoomx=2:zoomy=0.5"),
            ("dpr:2/w:100/pd:5", "resize:size=100x:density=2,pad:5:5:5:5:color=transparent"),
            ("c:0.5:0:fp:0.1:0.9", "crop:50pcx100pc:gravity=focal:fx=0.1:fy=0.9"), ("c:0:0", nil),
            ("t:10:fff:1:0", "trim:10:color=ffffff:equal=h:keep=1"), ("t:", nil), ("rot:450", "rotate:90"),
            ("fl:1:1", "flip:hv"), ("fl::1", "flip:v"), ("ar:0", "orient:none"),
            ("bg:f00/pd:1:2:3:4", "pad:1:2:3:4:color=ff0000,background:ff0000"), ("bg:1:2:3/bg:", nil),
            ("bl:2/sh:0.5/pix:8", "blur:2,sharpen:0.5,pixelate:8"), ("bl:0/sh:0/pix:1", nil),
            (
                "ex:1:no/w:5/h:6",
                "resize:size=5x6,extend:5x6:gravity=north:color=transparent:grow=1"
            ),
            (
                "wm:0.5:re:10:20/exar:1/rs:fit:4:2",
                "resize:size=4x2,extend:4x2:color=transparent:ratio=1,"
                    + "watermark:logo:tile=1:gravity=center:gapx=10:gapy=20:opacity=0.5"
            ),
            ("wm:1:soea:-5:0.1:0.25", "watermark:logo:gravity=southeast:x=-5:y=10pc:scale=0.25"),
            ("wm:0", nil), ("el:yes/w:9", "resize:size=9x"), ("w:1/w:2", "resize:size=2x"),
            // What an argument leaves out stays as it was set.
            ("g:no:9:8/g:so/rs:fill:5:5", "resize:size=5x5:mode=crop:gravity=south:x=9:y=8"),
            ("g:fp::0.2/rs:fill:5:5", "resize:size=5x5:mode=crop:gravity=focal:fx=0:fy=0.2"),
            ("c:4:3:no/c:2", "crop:2x3:gravity=north"), ("fl:1/fl::1", "flip:hv"),
            ("pd:1:2:3:4/pd::5", "pad:1:5:1:5:color=transparent"), ("t:9::1/t:8", "trim:8:equal=h:keep=1"),
            ("t:-1/rs:fill:0:0/dpr:2", "trim:10:keep=1,resize:density=2"),
            ("wm:1:so:5:6:0.5/wm:0.5", "watermark:logo:gravity=south:x=5:y=6:scale=0.5:opacity=0.5"),
            (
                "pd:1/wm:1/w:5/fl:1/c:4:4/t:1/bl:1/ex:1",
                "trim:1:keep=1,flip:h,crop:4x4,resize:size=5x,blur:1,extend:5x100pc:color=transparent:grow=1,"
                    + "pad:1:1:1:1:color=transparent,watermark:logo:gravity=center"
            ),
        ])
    func operations(options: String, transform: String?) throws {
        let translation = try dialect().translate(DialectTarget("/x/\(options)/\(Self.source)"))

        #expect(translation["transform"] == transform)
        #expect(translation["url"] == "https://example.org/cat.jpg")
        #expect(!translation.isSigned)
    }

    @Test(
        "Options about the answer become parameters",
        arguments: [
            ("f:webp", "format", "webp"), ("q:70", "quality", "70"),
            ("fq:jpg:50:webp:60", "quality", "jpeg:50,webp:60"),
            ("mb:9000", "max_bytes", "9000"), ("sm:0", "metadata", "keep"), ("kcr:0", "metadata", "none"),
            ("exp:4102444800", "expires", "4102444800"), ("att:1", "download", "1"),
            ("fn:holiday", "filename", "holiday.*"), ("fn:aG9saWRheQ:1", "filename", "holiday.*"),
            ("cb:x", "filename", "cat.*"), ("skp:jpg:gif", "skip", "jpeg,gif"), ("w:1", "format", "source"),
            ("skp:jpg/skp:gif:jpg", "skip", "jpeg,gif"), ("f:jpg/skp:jpg:gif", "skip", "jpeg"),
            ("fn:a%zz", "filename", "a%zz.*"),
        ])
    func parameters(options: String, name: String, value: String) throws {
        let translation = try dialect().translate(DialectTarget("/x/\(options)/\(Self.source)"))

        #expect(translation[name] == value)
    }

    @Test(
        "A source is plain or base64, in pieces, with the format behind it",
        arguments: [
            ("plain/http://a/b%20c.jpg@png", "http://a/b%20c.jpg", "png"),
            ("plain/http://a/b%3Fc=1%26d@", "http://a/b?c=1&d", "source"),
            ("plain/http:/a/b", "http://a/b", "source"), ("plain/http%3A//a/b", "http://a/b", "source"),
            ("raw:1/plain/http://a/b@xyz", "http://a/b", nil),
            ("aHR0cDovL2EvYg", "http://a/b", "source"), ("/aHR0cDovL2EvYg", "http://a/b", "source"),
            ("aHR0/cDov/L2EvYg==.webp", "http://a/b", "webp"),
        ])
    func sources(text: String, url: String, format: String?) throws {
        let translation = try dialect().translate(DialectTarget("//x//w:1/\(text)"))

        #expect(translation["url"] == url)
        #expect(translation["format"] == format)
    }

    @Test("A source that does not begin with the base URL is appended to it")
    func base() throws {
        let dialect = try dialect { $0.baseURL = "https://base/" }
        for (text, url) in [
            ("a/b", "https://base/a/b"), ("https://base/a", "https://base/a"),
            ("http://a/b", "https://base/http://a/b"),
        ] {
            #expect(try dialect.translate(DialectTarget("/x/w:1/plain/\(text)"))["url"] == url)
        }
    }

    @Test(
        "A source can't lead out of the base URL",
        arguments: ["../secret", "https://base/a/../../secret", "a/%2e%2E/b", "%252e%252e/secret", "./a"])
    func staysInBase(_ text: String) throws {
        let dialect = try dialect { $0.baseURL = "https://base/" }
        let error = #expect(throws: TranslationError.self) {
            try dialect.translate(DialectTarget("/x/w:1/plain/\(text)"))
        }
        #expect(error?.option == "source")
    }

    @Test("Dots after the path of a source, and in a name, are no segments")
    func dotsElsewhere() throws {
        let dialect = try dialect { $0.baseURL = "https://base/" }
        let target = DialectTarget("/x/w:1/plain/a..b/c.d%3Fe=../f")
        #expect(try dialect.translate(target)["url"] == "https://base/a..b/c.d?e=../f")
    }

    @Test(
        "What imgproxy refuses is refused, and named",
        arguments: [
            ("/x/w:abc/plain/http://a/b", "w"), ("/x/w:1:2/plain/http://a/b", "w"),
            ("/x/w:-1/plain/http://a/b", "w"),
            ("/x/W:1/plain/http://a/b", "W"), ("/x/br:10/plain/http://a/b", "br"),
            ("/x/an:1/plain/http://a/b", "an"),
            ("/x/g:sm:1:1/plain/http://a/b", "g"), ("/x/g:fp/plain/http://a/b", "g"),
            ("/x/rot:45/plain/http://a/b", "rot"),
            ("/x/bg:1:2/plain/http://a/b", "bg"), ("/x/z:0/plain/http://a/b", "z"),
            ("/x/bl:nan/plain/http://a/b", "bl"),
            ("/x/c:5:/plain/http://a/b", "c"), ("/x/wm:1:ce:0:0:0/plain/http://a/b", "wm"),
            ("/x/w:1//plain/http://a/b", "source"), ("/x/w:1//h:1/plain/http://a/b", "source"),
            ("/x/pr:none/plain/http://a/b", "preset"), ("/x/w:1/plain/http://a/b@jpg@png", "source"),
            ("/x/w:1/PLAIN/http://a/b", "source"), ("/x/w:1/plain/", "source"),
            ("/x/w%3a1/plain/http://a/b", "source"),
            ("/x/plain/http://a/b@WEBP", "extension"), ("/x/fit/300/200/aHR0cDovL2EvYg.jpg", "source"),
            ("/x/msr:1/plain/http://a/b", "msr"), ("/a:b/plain/http://a/b", "signature"), ("/x", ""),
        ])
    func refusals(target: String, option: String) throws {
        let dialect = try dialect()
        let error = #expect(throws: TranslationError.self) { try dialect.translate(DialectTarget(target)) }

        #expect(error?.option == option)
    }

    @Test("A URL has a bounded number of options, those of presets included")
    func optionCount() throws {
        let dialect = try dialect { $0.presets = ["a": "q:70/bl:3"] }
        func path(_ part: String, _ count: Int) -> String {
            "/x/\([String](repeating: part, count: count).joined(separator: "/"))/plain/http://h/a.jpg"
        }
        func translate(_ path: String) throws -> Translation {
            try dialect.translate(DialectTarget(path))
        }
        // A preset counts as one more than its options.
        let ten = "pr" + String(repeating: ":a", count: 10)
        for (part, fits, exceeds) in [("bl:1", 200, 201), ("pr:a", 66, 67), (ten, 9, 10)] {
            #expect(throws: Never.self) { try translate(path(part, fits)) }
            #expect(throws: TranslationError.self) { try translate(path(part, exceeds)) }
        }
    }

    @Test("A preset applies where it stands, default first, and one inside itself is skipped")
    func presets() throws {
        let dialect = try dialect {
            $0.presets = ["default": "q:70", "a": "w:5/pr:b", "b": "h:6/pr:a/bl:3"]
        }

        #expect(
            try dialect.translate(DialectTarget("/x/h:1/pr:a/w:9/\(Self.source)"))["transform"]
                == "resize:size=9x6,blur:3")
        #expect(try dialect.translate(DialectTarget("/x/\(Self.source)"))["quality"] == "70")
        let error = #expect(throws: TranslationError.self) { try self.dialect { $0.presets = ["a": "w:x"] } }
        #expect(error?.option == "presets.a")
    }

    @Test("With onlyPresets the second part names presets, and nothing else is read")
    func onlyPresets() throws {
        let dialect = try dialect {
            $0.onlyPresets = true
            $0.presets = ["a": "w:5", "b": "h:6"]
        }

        #expect(
            try dialect.translate(DialectTarget("/x/a:b/\(Self.source)"))["transform"] == "resize:size=5x6")
        #expect(throws: TranslationError.self) {
            try dialect.translate(DialectTarget("/x/w:1/\(Self.source)"))
        }
        #expect(throws: TranslationError.self) { try dialect.translate(DialectTarget("/x/\(Self.source)")) }
    }

    // MARK: - Signatures

    private static let keys = ["00112233", "44556677"].map { Array($0.utf8) }
    private static let salts = ["8899", "aabb"].map { Array($0.utf8) }

    private func signing(
        _ change: (inout ImgproxyDialect.Settings) -> Void = { _ in }
    ) throws -> ImgproxyDialect {
        var settings = ImgproxyDialect.Settings()
        settings.keys = ["k1", "k2"]
        settings.salts = ["s1", "s2"]
        change(&settings)
        return try ImgproxyDialect(settings, keys: Self.keys + Self.salts)
    }

    private func signature(_ path: String, _ key: [UInt8], _ salt: [UInt8], size: Int = 32) -> String {
        Base64.encodeURL(HMACKey(.sha256, key).code(for: salt + path.utf8).prefix(size))
    }

    @Test("A signature by any of the keys covers the whole path behind it, as it was sent")
    func signatures() throws {
        let path = "/w:100/\(Self.source)"
        for (key, salt) in [
            ([0x00, 0x11, 0x22, 0x33], [0x88, 0x99]), ([0x44, 0x55, 0x66, 0x77], [0xAA, 0xBB]),
        ]
            as [([UInt8], [UInt8])]
        {
            let signature = signature(path, key, salt)
            #expect(try signing().translate(DialectTarget("/\(signature)\(path)?utm=1")).isSigned)
            for wrong in [
                "/\(signature)=\(path)", "/\(signature.dropLast())\(path)", "/\(signature)\(path)@png",
                "/\(signature)/w:0100/\(Self.source)", "/x\(path)", "/\(path)",
                "/\(signature)/w%253A100/\(Self.source)",
            ] {
                let dialect = try signing()
                let error = #expect(throws: TranslationError.self) {
                    try dialect.translate(DialectTarget(wrong))
                }
                #expect(error?.kind == .signature, "\(wrong)")
            }
        }
    }

    @Test("What is repaired in front of a plain source is signed as repaired, its own escapes as they stand")
    func repairs() throws {
        let (key, salt) = ([0x00, 0x11, 0x22, 0x33] as [UInt8], [0x88, 0x99] as [UInt8])
        for (signed, sent) in [
            ("/w:1/plain/http%3A%2F%2Fa%2Fb", "/w:1/plain/http%3A%2F%2Fa%2Fb"),
            ("/w:1/plain/http://a/b", "/w%3A1/plain/http:/a/b"),
            ("/w:1/plain/http://a/b", "//w:1/plain/http:/a/b"),
        ] {
            let target = DialectTarget("/\(signature(signed, key, salt))\(sent)")
            #expect(try signing().translate(target).isSigned, "\(sent)")
        }
    }

    @Test("A shorter signature is accepted where the settings say so, and then no other length")
    func truncation() throws {
        let path = "/w:100/\(Self.source)"
        let dialect = try signing { $0.signatureSize = 8 }
        for size in [7, 8, 9, 32] {
            let target = DialectTarget(
                "/\(signature(path, [0x00, 0x11, 0x22, 0x33], [0x88, 0x99], size: size))\(path)")
            if size == 8 {
                #expect(try dialect.translate(target).isSigned)
            } else {
                #expect(throws: TranslationError.self) { try dialect.translate(target) }
            }
        }
    }

    @Test("A trusted text stands for a signature, but signs nothing")
    func trusted() throws {
        let dialect = try signing { $0.trustedSignatures = ["unsafe"] }

        #expect(try !dialect.translate(DialectTarget("/unsafe/\(Self.source)")).isSigned)
        #expect(throws: TranslationError.self) {
            try dialect.translate(DialectTarget("/other/\(Self.source)"))
        }
    }

    @Test("Presets alone need presets")
    func noPresets() throws {
        let error = #expect(throws: TranslationError.self) { try dialect { $0.onlyPresets = true } }
        #expect(error?.option == "onlyPresets")
    }

    @Test("Keys and salts are hexadecimal, and as many of one as of the other")
    func wrongKeys() throws {
        var settings = ImgproxyDialect.Settings()
        settings.keys = ["k"]
        #expect(throws: TranslationError.self) { try ImgproxyDialect(settings, keys: [Array("00".utf8)]) }
        settings.salts = ["s"]
        #expect(throws: TranslationError.self) {
            try ImgproxyDialect(settings, keys: [Array("0g".utf8), Array("00".utf8)])
        }
    }

    @Test("Options of the commercial version are translated where the settings say so")
    func commercial() throws {
        let dialect = try dialect { $0.pro = true }
        let translation = try dialect.translate(
            DialectTarget("/x/w:9/sa:0.5/-/bl:1/da:1/pg:2/\(Self.source)"))

        #expect(translation["transform"] == "resize:size=9x,saturation:0.5,blur:1")
        #expect(translation["animate"] == "first")
        #expect(translation["frame"] == "2")
        // What shows through a background is laid under the padding once, too.
        let padded = try dialect.translate(DialectTarget("/x/pd:1/bg:f00/bga:0.5/\(Self.source)"))
        #expect(padded["transform"] == "pad:1:1:1:1:color=transparent,background:ff000080")
        #expect(throws: TranslationError.self) {
            try dialect.translate(DialectTarget("/x/gr:1/\(Self.source)"))
        }
    }

    @Test("A longest side fits the result into it, where the settings allow such options")
    func longestSide() throws {
        let dialect = try dialect { $0.securityOptions = true }
        #expect(
            try dialect.translate(DialectTarget("/x/mrd:90/pd:5/\(Self.source)"))["transform"]
                == "pad:5:5:5:5:color=transparent,resize:90x90")
        #expect(try dialect.translate(DialectTarget("/x/mrd:0/\(Self.source)"))["transform"] == nil)
        #expect(throws: TranslationError.self) {
            try self.dialect().translate(DialectTarget("/x/mrd:90/\(Self.source)"))
        }
    }

    @Test("A URL is over at its time, and 0 is never")
    func expiry() throws {
        let dialect = try dialect()
        let error = #expect(throws: TranslationError.self) {
            try dialect.translate(DialectTarget("/x/exp:100/\(Self.source)", now: 100))
        }
        #expect(error?.kind == .expired)
        #expect(try dialect.translate(DialectTarget("/x/exp:0/\(Self.source)", now: 100))["expires"] == nil)
    }
}
