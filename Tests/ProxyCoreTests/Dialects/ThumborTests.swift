// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialects

@Suite("URLs of thumbor and imagor")
struct ThumborTests {
    private static let key = Array("secret-of-thumbor".utf8)

    private func translate(
        _ path: String, lenient: Bool = false, _ change: (inout Thumbor.Settings) -> Void = { _ in }
    ) throws -> Translation {
        var settings = Thumbor.Settings()
        settings.allowsUnsafe = true
        settings.lenient = lenient
        settings.respectsOrientation = true
        settings.watermarks = ["http://h/wm.png": "wm"]
        change(&settings)
        return try Thumbor(settings, keys: [Self.key]).translate(DialectTarget(path))
    }

    // MARK: - The path

    @Test(
        "Each part of the path becomes an operation, in thumbor's order of work",
        arguments: [
            ("300x200", "resize:300x200:cover:enlarge=1"),
            ("300x", "resize:300x:fill:enlarge=1:even=1"),
            ("9999999999x", "resize:999999999x:fill:enlarge=1:even=1"),
            ("x200", "resize:x200:fill:enlarge=1:even=1"),
            ("origx100", "resize:100pcx100:cover:enlarge=1"),
            ("-300x-200", "resize:300x200:cover:enlarge=1,flip:hv"),
            ("-0x0", "flip:h"),
            ("x-", "flip:v"),
            ("fit-in/300x200", "resize:300x200"),
            ("fit-in/300x", "resize:300x:even=1"),
            ("full-fit-in/x200", "resize:x200:outside:enlarge=1:even=1"),
            ("full-fit-in/300x200", "resize:300x200:outside:enlarge=1"),
            ("adaptive-fit-in/300x200", "resize:300x200:swap=1"),
            ("adaptive-full-fit-in/300x200", "resize:300x200:outside:enlarge=1:swap=1"),
            ("10x20:210x170", "crop:200x150:x=10:y=20:lenient=1"),
            ("trim", "trim:0"),
            ("trim:bottom-right:50", "trim:29:corner=southeast"),
            ("trim/50x40:360x250", "trim:0,crop:310x210:x=50:y=40:lenient=1:base=source"),
            ("150x150/left/top", "resize:150x150:cover:enlarge=1:gravity=northwest"),
            ("150x150/right", "resize:150x150:cover:enlarge=1:gravity=east"),
            ("150x150/center/middle/smart", "resize:150x150:cover:enlarge=1"),
            ("150x150/smart", "resize:150x150:cover:enlarge=1:gravity=smart"),
            (
                "trim/1x1:9x9/fit-in/-30x20/left/bottom",
                "trim:0,crop:8x8:x=1:y=1:lenient=1:base=source,resize:30x20,flip:h"
            ),
        ])
    func parts(options: String, transform: String) throws {
        let translation = try translate("/unsafe/\(options)/http://h/a.jpg")
        #expect(translation["transform"] == transform)
        #expect(translation["url"] == "http://h/a.jpg")
        #expect(translation["format"] == "source")
        #expect(!translation.isSigned)
    }

    @Test(
        "Parts that request nothing only turn the picture",
        arguments: ["x", "0x0", "smart", "fit-in", "9x9:3x3", "0x0:0x0", "left"])
    func nothing(options: String) throws {
        #expect(try translate("/unsafe/\(options)/http://h/a.jpg")["transform"] == "orient:auto")
    }

    @Test(
        "The first part that is no option, or out of order, begins the source",
        arguments: [
            "300X200/h/a.jpg", "300/h/a.jpg", "LEFT/h/a.jpg", "smart/left/h/a.jpg",
            "filters%3Aquality(80)/h/a.jpg", "stretch/10x10/h/a.jpg",
            "trim:middle/h/a.jpg", "300x200x1/h/a.jpg",
        ])
    func sourceBegins(rest: String) throws {
        let skipped = rest.hasPrefix("smart/") ? "left/h/a.jpg" : rest
        let decoded = skipped.replacing("%3A", with: ":")
        #expect(try translate("/unsafe/\(rest)")["url"] == "http://\(decoded)")
    }

    @Test(
        "A source is raw, encoded once or twice, or without scheme",
        arguments: [
            ("http://h/a.jpg", "http://h/a.jpg"),
            ("https://h/a.jpg", "https://h/a.jpg"),
            ("http%3A%2F%2Fh%2Fa.jpg", "http://h/a.jpg"),
            ("h:81/a.jpg", "http://h:81/a.jpg"),
            ("http://h/sp%20ace.jpg", "http://h/sp%20ace.jpg"),
            ("http://h/sp%2520ace.jpg", "http://h/sp%20ace.jpg"),
            ("http://h/%C3%BC.jpg", "http://h/%C3%BC.jpg"),
            ("http://h/100%25.jpg", "http://h/100%25.jpg"),
            ("http://h/a.jpg%3Fx=1&y=2", "http://h/a.jpg?x=1&y=2"),
            ("http://h/a.jpg?x=1", "http://h/a.jpg"),
            ("http://h/smart/300x200/fit-in.jpg", "http://h/smart/300x200/fit-in.jpg"),
        ])
    func sources(raw: String, url: String) throws {
        #expect(try translate("/unsafe/100x/\(raw)")["url"] == url)
    }

    @Test(
        "A path without a source, or with a slash too many, is refused",
        arguments: [
            "/unsafe", "/unsafe/", "/", "", "//unsafe/100x/http://h/a.jpg", "/unsafe/100x//http://h/a.jpg",
            "/unsafe/http:/h/a.jpg", "/unsafe/HTTP://h/a.jpg", "/unsafe/ftp://h/a.jpg",
            "/unsafe/filters:/h/a.jpg", "/unsafe/filters:quality(80):/h/a.jpg",
        ])
    func refused(path: String) {
        let error = #expect(throws: TranslationError.self) { try translate(path) }
        #expect(error?.kind == .invalid)
    }

    // MARK: - Filters

    @Test(
        "Filters become operations in the order written",
        arguments: [
            ("rotate(90):grayscale()", "rotate:270,grayscale:weights=bt601"),
            ("grayscale():rotate(-90)", "grayscale:weights=bt601,rotate:90"),
            ("rotate(45)", ""),
            ("brightness(20)", "channels:add_red=51:add_green=51:add_blue=51"),
            ("rgb(100,0,-100)", "channels:add_red=255:add_green=0:add_blue=-255"),
            ("colorize(10,20,30,112233)", "channels:0.9:0.8:0.7:1.7:6.8:15.3"),
            ("contrast(40)", "contrast:1.96"),
            ("contrast(-100)", "contrast:0"),
            ("saturation(0.2)", "saturation:0.2:perceived"),
            ("blur(3)", "blur:1.835"),
            ("blur(30,2)", "blur:2"),
            ("blur(4,-2)", "blur:1.852"),
            ("saturation(%20%202%20)", "saturation:2:perceived"),
            ("sharpen(2,1.0,true)", "sharpen:3.5:1.3"), ("sharpen(3,20,false)", ""),
            ("equalize()", "equalize"),
            ("noise(40,7)", "noise:40:seed=7"),
            ("noise(0)", ""),
            ("convolution(1;2;1;2;4;2;1;2;1,3,true)", "convolve:1_2_1_2_4_2_1_2_1:3:16"),
            ("convolution(-1;8;-1,3,false)", "convolve:-1_8_-1:3"),
            ("convolution(1;2;1,3)", "convolve:1_2_1:3:4"),
            (
                "curve([(0,0),(255,255)],[(0,50),(255,200)],[(0,0),(255,255)],[(0,255),(255,0)])",
                "curve:0_0+255_255:0_50+255_200:0_0+255_255:0_255+255_0"
            ),
            ("round_corner(20,255,0,16)", "round:20:ry=20:outside=ff0010"),
            ("round_corner(20|50,0,0,0,1)", "round:20:ry=50:outside=000000"),
            ("format(png):round_corner(20|50,0,0,0,1)", "round:20:ry=50"),
            ("background_color(Red)", "background:red"),
            ("watermark(http://h/wm.png,10,-5,20)", "watermark:wm:southwest:10:5:opacity=0.8"),
            ("watermark(http%3A%2F%2Fh%2Fwm.png,center,50p,0,50)", "watermark:wm:north:0:50pc:width=0.5"),
            ("watermark(h/wm.png,repeat,repeat,0,30,30)", "watermark:wm:northwest:0:0:tile=spread:scale=0.3"),
            ("strip_exif():strip_icc()", ""),
            ("grayscale()%3Arotate(90)", "grayscale:weights=bt601,rotate:270"),
            ("rotate%2890):grayscale%28)", "rotate:270,grayscale:weights=bt601"),
            ("blur(30%2C2)", "blur:2"),
            ("grayscale());rotate(90)", "grayscale:weights=bt601"),
            ("watermark('http://h/wm.png',1,2,0,none,0)", "watermark:wm:northwest:1:2"),
            ("proportion(0.5)", "resize:50pcx50pc:fill:down=1"),
        ])
    func filters(list: String, transform: String) throws {
        let translation = try translate("/unsafe/filters:\(list)/http://h/a.jpg")
        #expect(translation["transform"] == (transform.isEmpty ? "orient:auto" : transform))
        #expect(translation["url"] == "http://h/a.jpg")
    }

    @Test(
        "Filters about size change how the picture gets it",
        arguments: [
            ("fit-in/300x300", "fill(red)", "resize:300x300,extend:300x300:color=red"),
            ("fit-in/300x300", "fill(blur)", "resize:300x300,extend:300x300:fill=squeeze"),
            ("fit-in/300x300", "fill(auto)", "resize:300x300,extend:300x300:fill=mean"),
            (
                "fit-in/300x300", "fill(fff,1)",
                "resize:300x300,background:fff,extend:300x300:color=fff"
            ),
            ("fit-in/200x", "fill(red)", "resize:200x:even=1,extend:200x100pc:color=red"),
            ("300x300", "fill(red)", "resize:300x300:cover:enlarge=1"),
            ("full-fit-in/300x300", "fill(red)", "resize:300x300:outside:enlarge=1"),
            (
                "adaptive-fit-in/300x200", "fill(red)",
                "resize:300x200:swap=1,extend:300x200:color=red:swap=1"
            ),
            (
                "fit-in/800x800", "no_upscale():fill(white)",
                "resize:800x800,extend:800x800:color=white:bound=source"
            ),
            ("fit-in/800x800", "upscale()", "resize:800x800,resize:800x800:enlarge=1:down=1"),
            ("fit-in/800x", "upscale()", "resize:800x:even=1"),
            (
                "fit-in/800x800", "no_upscale():upscale()",
                "resize:800x800,resize:800x800:enlarge=1:down=1:bound=source"
            ),
            (
                "fit-in/80x80", "fill(red):upscale()",
                "resize:80x80,extend:80x80:color=red,resize:80x80:enlarge=1:down=1"
            ),
            (
                "80x80", "proportion(0.5):fill(red)",
                "resize:80x80:cover:enlarge=1,resize:50pcx50pc:fill:down=1,extend:80x80:color=red"
            ),
            ("800x800", "no_upscale()", "resize:800x800:cover:enlarge=1:bound=source"),
            ("800x", "no_upscale()", "resize:800x:fill:enlarge=1:bound=source:even=1"),
            ("800x800", "no_upscale():stretch()", "resize:800x800:fill:enlarge=1:bound=source"),
            (
                "1x1:9x9/800x800", "no_upscale()",
                "crop:8x8:x=1:y=1:lenient=1,resize:800x800:cover:enlarge=1:bound=source"
            ),
            ("300x100", "stretch()", "resize:300x100:fill:enlarge=1"),
            ("200x133", "proportion(0.5)", "resize:200x133:cover:enlarge=1,resize:50pcx50pc:fill:down=1"),
            ("9x9", "focal(10x500:200x640)", "resize:9x9:cover:enlarge=1:gravity=focal:px=105:py=570"),
            (
                "100x100:400x400/9x9", "focal(110x120:130x140)",
                "crop:300x300:x=100:y=100:lenient=1,resize:9x9:cover:enlarge=1:gravity=focal:px=20:py=30"
            ),
            (
                "100x100:400x400/9x9", "focal(0x0:50x50)",
                "crop:300x300:x=100:y=100:lenient=1,resize:9x9:cover:enlarge=1"
            ),
            ("9x9", "focal(5x5:5x5)", "resize:9x9:cover:enlarge=1"),
            ("9x9", "focal(1e3x0:10x10)", "resize:9x9:cover:enlarge=1"),
            ("9x9", "focal(0.5x1:10x10)", "resize:9x9:cover:enlarge=1"),
            ("9x9", "focal(20x30:10x10abc)", "resize:9x9:cover:enlarge=1:gravity=focal:px=15:py=20"),
        ])
    func geometry(options: String, filters: String, transform: String) throws {
        let path = "/unsafe/\(options)/filters:\(filters)/http://h/a.jpg"
        #expect(try translate(path)["transform"] == transform)
    }

    @Test("More filters than any picture needs are refused before they are translated")
    func tooManyFilters() throws {
        func path(_ count: Int) -> String {
            "/unsafe/filters:\([String](repeating: "grayscale()", count: count).joined(separator: ":"))/h/a.jpg"
        }
        #expect(throws: Never.self) { try translate(path(200)) }
        #expect(throws: TranslationError.self) { try translate(path(201)) }
    }

    @Test("Format, quality and size of the file are parameters of their own")
    func output() throws {
        let webp = try translate("/unsafe/filters:quality(0):format(WEBP):max_bytes(3000)/h/a.jpg")
        #expect(webp["format"] == "webp" && webp["quality"] == "1" && webp["max_bytes"] == "3000")
        #expect(
            try translate("/unsafe/filters:format(png):format(xyz)/h/a.jpg", lenient: true)["format"]
                == "source")
        #expect(try translate("/unsafe/filters:format('png')/h/a.jpg")["format"] == "png")
        #expect(try translate("/unsafe/filters:format(png):quality(80)/h/a.jpg")["quality"] == nil)
        #expect(try translate("/unsafe/filters:format(jpg)/h/a.png")["transform"] == "opaque")
        let onto = try translate("/unsafe/filters:background_color(fff):format(jpeg)/h/a.png")
        #expect(onto["transform"] == "background:fff")
        #expect(try translate("/unsafe/h/a.jpg") { $0.autoWebP = true }["format"] == "auto:webp")
        #expect(
            try translate("/unsafe/h/a.jpg") { $0.respectsOrientation = false }["transform"] == "orient:none")
        let facts = try translate("/unsafe/meta/10x/h/a.jpg")
        #expect(facts.answer == .facts && facts.target == "/info?url=http://h/a.jpg")
    }

    @Test(
        "What thumbor would skip is refused by name, or skipped where the settings are lenient",
        arguments: [
            ("nosuch(1)", "nosuch", TranslationError.Kind.invalid),
            ("Brightness(20)", "Brightness", .invalid),
            ("brightness(abc)", "brightness", .invalid),
            ("format(xyz)", "format", .invalid),
            ("quality(abc)", "quality", .invalid),
            ("round_corner(30)", "round_corner", .invalid),
            ("watermark(http://h/wm.png,10,10)", "watermark", .invalid),
            ("watermark(http://h/wm.png,left,10,0)", "watermark", .invalid),
            ("abc)", "abc", .invalid),
            ("grayscale(1)", "grayscale", .invalid),
            ("fill(red,2)", "fill", .invalid),
            ("fill(%23fff)", "fill", .invalid),
            ("blur(0)", "blur", .invalid),
            ("rotate(90.5)", "rotate", .invalid),
            ("round_corner(20|,0,0,0)", "round_corner", .invalid),
            ("saturation(-1)", "saturation", .invalid),
            ("max_age(10)", "max_age", .unsupported),
            ("background_color(auto)", "background_color", .unsupported),
            ("rotate(99999999999999999999)", "rotate", .invalid),
        ])
    func skipped(filter: String, name: String, kind: TranslationError.Kind) throws {
        let path = "/unsafe/10x/filters:\(filter)/h/a.jpg"
        let error = #expect(throws: TranslationError.self) { try translate(path) }
        #expect(error?.kind == kind && error?.option == name)

        let lenient = try translate(path, lenient: true)
        #expect(lenient["transform"] == "resize:10x:fill:enlarge=1:even=1")
        #expect(lenient.ignored.count == 1 && lenient.ignored[0].hasPrefix("\(name): "))
    }

    @Test(
        "What thumbor fails for is refused by lenient settings, too",
        arguments: [
            ("filters:watermark(http://h/other.png,10,10,0)", "watermark", TranslationError.Kind.unsupported),
            ("filters:fill(nosuch)", "fill", .invalid),
            ("filters:background_color(12345)", "background_color", .invalid),
            ("filters:colorize(50,50,50,red)", "colorize", .invalid),
            ("filters:round_corner(20,300,0,0)", "round_corner", .invalid),
            ("xorig", "orig", .invalid), ("fit-in/origx", "orig", .invalid),
            ("debug/9x9", "debug", .unsupported),
        ])
    func alwaysRefused(options: String, name: String, kind: TranslationError.Kind) {
        let error = #expect(throws: TranslationError.self) {
            try translate("/unsafe/\(options)/h/a.jpg", lenient: true)
        }
        #expect(error?.kind == kind && error?.option == name)
    }

    // MARK: - Signatures

    private static let signed = [
        ("Bhyitw4UH4boeDY6oJNDcFp1onU%3D", "300x200/http://h/a.jpg"),
        ("Bhyitw4UH4boeDY6oJNDcFp1onU=", "300x200/http://h/a.jpg"),
        ("6R8nIcAittpN1yVEtXCJOfGbllc=", "100x/http%3A%2F%2Fh%2Fa.jpg"),
    ]

    @Test("A signature is the MAC of the path behind it as it stands", arguments: signed)
    func signature(signature: String, rest: String) throws {
        let translation = try translate("/\(signature)/\(rest)") { $0.allowsUnsafe = false }
        #expect(translation.isSigned)
    }

    @Test(
        "Any other text in its place is refused",
        arguments: [
            "Bhyitw4UH4boeDY6oJNDcFp1onU", "Bhyitw4UH4boeDY6oJNDcFp1onU%253D",
            "%42hyitw4UH4boeDY6oJNDcFp1onU=",
            "xBhyitw4UH4boeDY6oJNDcFp1onU=",
            "Bhyitw4UH4boeDY6oJND", "6R8nIcAittpN1yVEtXCJOfGbllc=", "Unsafe", "UNSAFE", "=", "300x200",
        ])
    func wrongSignature(signature: String) {
        let error = #expect(throws: TranslationError.self) {
            try translate("/\(signature)/300x200/http://h/a.jpg")
        }
        #expect(error?.kind == .signature)
    }

    @Test("What is signed is not decoded, and doubled slashes count")
    func signedAsSent() {
        for rest in ["100x/http://h/a.jpg", "/100x/http%3A%2F%2Fh%2Fa.jpg", "100x/http%3a%2F%2Fh%2Fa.jpg"] {
            let error = #expect(throws: TranslationError.self) {
                try translate("/6R8nIcAittpN1yVEtXCJOfGbllc=/\(rest)")
            }
            #expect(error?.kind == .signature)
        }
    }

    @Test("Without keys no signature is right, not even that of an empty key")
    func noKeys() {
        // HMAC-SHA1 with an empty key.
        let path = "/5SdH4a6r76kHzqNONKK2Eyt65ps=/300x200/http://h/a.jpg"
        #expect(throws: TranslationError.self) {
            try Thumbor(Thumbor.Settings()).translate(DialectTarget(path))
        }
    }

    @Test("imagor's signatures may be of SHA-256 or SHA-512, and cut")
    func digests() throws {
        let rest = "300x200/http://h/a.jpg"
        let long = "POAsohMvIQKviWVc2XyhcRyScdi_YsszHFwMa0EVFae59CHTKDfWo-F5FTsir2bF9QkJj1jKpob1ZhikBuvukQ=="
        let shorter = "F1NAowweNxqUTwKZ9aDtq9R8x6VffBq_9KZSWP9y9qc="
        #expect(try translate("/\(long)/\(rest)") { $0.digest = .sha512 }.isSigned)
        #expect(try translate("/\(shorter)/\(rest)") { $0.digest = .sha256 }.isSigned)
        let cut = String(shorter.prefix(20))
        let settings = { (settings: inout Thumbor.Settings) in
            settings.digest = .sha256
            settings.signatureLength = 20
        }
        #expect(try translate("/\(cut)/\(rest)", lenient: false, settings).isSigned)
        #expect(throws: TranslationError.self) {
            try translate("/\(shorter)/\(rest)", lenient: false, settings)
        }
        #expect(throws: TranslationError.self) {
            try translate("/\(cut.dropLast())/\(rest)", lenient: false, settings)
        }
    }

    @Test("unsafe is refused where the settings do not allow it")
    func unsafeRefused() {
        let error = #expect(throws: TranslationError.self) {
            try translate("/unsafe/10x/h/a.jpg") { $0.allowsUnsafe = false }
        }
        #expect(error?.kind == .forbidden)
    }
}
