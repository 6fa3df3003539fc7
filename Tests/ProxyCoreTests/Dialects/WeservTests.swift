// SPDX-License-Identifier: Apache-2.0

import Dialects
import Primitives
import Testing

@Suite("URLs of weserv")
struct WeservTests {
    private let strict = Weserv()
    private let lenient: Weserv = {
        var settings = Weserv.Settings()
        settings.lenient = true
        return Weserv(settings)
    }()

    private static let usual = "&format=source&animate=first"

    @Test(
        "A size becomes one resize, with what is cut chosen by the alignment",
        arguments: [
            Meaning("w=300", "resize:300x:enlarge=1"),
            Meaning("w=300&h=200&we", "resize:300x200"),
            Meaning("w=300.7&h=200px", "resize:300x200:enlarge=1"),
            Meaning("w=%2B200", "resize:200x:enlarge=1"),
            Meaning("w=1e2", "resize:1x:enlarge=1"),
            Meaning("w=50%25", "resize:50pcx:enlarge=1"),
            Meaning("w=300&dpr=1.5", "resize:450x:enlarge=1"),
            Meaning("w=300&h=300&fit=outside", "resize:300x300:outside:enlarge=1"),
            Meaning("w=300&h=300&fit=cover", "resize:300x300:cover:enlarge=1"),
            Meaning("w=300&h=300&fit=cover&we", "resize:300x300:crop"),
            Meaning("w=300&h=300&fit=cover&a=top", "resize:300x300:cover:gravity=north:enlarge=1"),
            Meaning("w=300&h=300&fit=cover&a=attention", "resize:300x300:cover:gravity=smart:enlarge=1"),
            Meaning(
                "w=300&h=300&fit=cover&a=focal&fpx=0.25",
                "resize:300x300:cover:gravity=focal:fx=0.25:fy=0.5:enlarge=1"),
            Meaning(
                "w=300&h=300&t=square&a=crop-25-75",
                "resize:300x300:cover:gravity=focal:fx=0.25:fy=0.75:enlarge=1"),
            Meaning(
                "w=300&h=300&fit=cover&a=focal-10%25-20%25",
                "resize:300x300:cover:gravity=focal:fx=0.1:fy=0.2:enlarge=1"),
            Meaning("w=300&fit=cover", "resize:300x:enlarge=1"),
            Meaning("w=300&fit=fill", "resize:300x100pc:fill:enlarge=1"),
            Meaning("w=300&h=200&fit=fill&we", "resize:300x200:fill:bound=side"),
            Meaning("w=300&h=200&t=fit", "resize:300x200"),
            Meaning("w=300&h=200&t=squaredown", "resize:300x200:crop"),
            Meaning("w=300&h=200&t=absolute", "resize:300x200:fill:enlarge=1"),
            Meaning("w=300&h=200&t=crop-top", "resize:300x200:cover:enlarge=1"),
        ])
    func sizes(_ meaning: Meaning) {
        #expect(
            strict.meaning(of: "/?url=a.test/p.jpg&\(meaning.target)")
                == "transform=\(meaning.parameters)\(Self.usual)")
    }

    @Test(
        "Trim, turns, rectangle and bars stand in weserv's order",
        arguments: [
            Meaning("trim=10&w=100", "trim:10:keep=1,resize:100x:enlarge=1&format=source"),
            Meaning("ro=90&w=200&flop", "resize:200x:enlarge=1,rotate:90,flip:h&format=source"),
            Meaning("ro=-90", "rotate:270&format=source"),
            Meaning("ro=450&flip", "rotate:90,flip:v&format=source"),
            Meaning(
                "ro=90&w=200&h=100&fit=cover&a=left",
                "resize:200x100:outside:enlarge=1,rotate:90,crop:200x100:gravity=west&format=source"),
            Meaning("cx=10%25&cy=20&cw=50%25", "crop:50pcx100pc:x=10pc:y=20:lenient=sides&format=source"),
            Meaning("crop=200,150,100,50", "crop:200x150:x=100:y=50:lenient=sides&format=source"),
            Meaning("w=300&cw=200&ch=100", "resize:300x:enlarge=1,crop:200x100:x=0:y=0&format=source"),
            Meaning(
                "cx=50&cw=200&precrop&w=300&h=200&fit=cover&ro=180",
                "rotate:180,crop:200x100pc:x=50:y=0:lenient=sides,resize:300x200:cover:enlarge=1&format=source"
            ),
            Meaning("ro=30&w=200", "resize:200x:enlarge=1,rotate:30&format=source-alpha"),
            Meaning("ro=30&rbg=white", "rotate:30:color=ffffff&format=source"),
            Meaning(
                "w=800&fit=contain&we",
                "resize:800x,extend:800x100pc:color=00000000:grow=1&format=source-alpha"),
            Meaning(
                "w=300&h=200&fit=contain",
                "resize:300x200:enlarge=1,extend:300x200:color=00000000&format=source-alpha"),
            Meaning(
                "w=300&h=200&fit=contain&cbg=80ff0000&a=top",
                "resize:300x200:enlarge=1,extend:300x200:gravity=north:color=ff000080&format=source-alpha"),
            Meaning(
                "w=300&h=200&fit=contain&cbg=white&a=focal&fpx=0.2",
                "resize:300x200:enlarge=1,extend:300x200:gravity=share:fx=0.2:fy=0.5:color=ffffff&format=source"
            ),
        ])
    func geometry(_ meaning: Meaning) {
        #expect(
            strict.meaning(of: "/?url=a.test/p.jpg&\(meaning.target)")
                == "transform=\(meaning.parameters)&animate=first")
    }

    @Test(
        "Colours are changed in weserv's order; colours with alpha have it first",
        arguments: [
            Meaning("bri=20", "channels:1:1:1:51:51:51"),
            Meaning("con=30", "sigmoid:9"),
            Meaning("gam=2.2", "gamma:2.2"),
            Meaning("gam", "gamma:2.2"),
            Meaning("mod=1.5,0.5,-90", "modulate:1.5:0.5:270"),
            Meaning("sat=2", "modulate:1:2:0"),
            Meaning("hue=45", "modulate:1:1:45"),
            Meaning("blur=5", "blur:5"),
            Meaning("blur", "blur:0.816"),
            Meaning("blur=900", "blur:250"),
            Meaning("sharp", "sharpen:0.816:0.375"),
            Meaning("sharp=2", "sharpen:2:1.5"),
            Meaning("sharp=1,3,2", "sharpen:2:2"),
            Meaning("sharp=1,3&sat=2", "modulate:1:2:0"),
            Meaning("filt=greyscale", "modulate:1:0"),
            Meaning("filt=negate&blur=3", "invert,blur:3"),
            Meaning("filt=duotone&start=red", "duotone:ff0000:d8e74f:lab"),
            Meaning("tint=%23336699", "tint:336699:lab"),
            Meaning("bg=8369", "background:33669988"),
            Meaning("bg=RED&blur=2", "blur:2,background:ff0000"),
            Meaning("con=10&bri=10&sat=0.5", "channels:1:1:1:25.5:25.5:25.5,modulate:1:0.5:0,sigmoid:3"),
        ])
    func effects(_ meaning: Meaning) {
        #expect(
            strict.meaning(of: "/?url=a.test/p.jpg&\(meaning.target)")
                == "transform=\(meaning.parameters)\(Self.usual)")
    }

    @Test(
        "A mask comes behind the background, and makes a JPEG a PNG, filled or not",
        arguments: [
            Meaning("mask=circle&bg=green", "background:008000,mask:circle&format=source-alpha"),
            Meaning("mask=star&mtrim", "mask:star:trim=1&format=source-alpha"),
            Meaning("shape=ellipse&strim", "mask:ellipse&format=source-alpha"),
            Meaning("mask=heart&mbg=ff0000", "mask:heart:color=ff0000&format=png"),
            Meaning("mask=heart&mbg=ff0000&q=80", "mask:heart:color=ff0000&format=png"),
            Meaning("mask=heart&mbg=80ff0000", "mask:heart,background:ff000080&format=source-alpha"),
            Meaning("mask=triangle-180&output=jpg", "mask:triangle-180,background:000&format=jpeg"),
        ])
    func masks(_ meaning: Meaning) {
        #expect(
            strict.meaning(of: "/?url=a.test/p.jpg&\(meaning.target)")
                == "transform=\(meaning.parameters)&animate=first")
    }

    @Test(
        "Format, quality, frames and name",
        arguments: [
            Meaning("output=jpg&bg=white", "transform=background:ffffff&format=jpeg&animate=first"),
            Meaning("output=av1&q=40", "format=avif&quality=40&animate=first"),
            Meaning("output=webp&ll&q=40", "format=webp&lossless=1&animate=first"),
            Meaning("output=png&q=40&l=9&il", "format=png&progressive=1&animate=first"),
            Meaning("output=", "format=source&animate=first"),
            Meaning("n=-1", "format=source"),
            Meaning("n=-1&loop=3&delay=200", "format=source&transform=loop:3,delay:200"),
            Meaning("filename=holiday", "format=source&animate=first&filename=holiday.*"),
            Meaning("maxage=1d", "format=source&animate=first"),
            Meaning("page=-1", "format=source&animate=first"),
            Meaning("n=-1&delay=100,200,300", "format=source&transform=delay:100:others=200+300"),
            Meaning("n=-1&ro=30", "format=source"),
            Meaning("n=-1&output=png", "format=png&animate=strip"),
            Meaning("n=2&output=jpg", "transform=background:000&format=jpeg&frames=2&animate=strip"),
            Meaning("w=50%25&h=100&fit=contain", "unsupported w"),
        ])
    func output(_ meaning: Meaning) {
        #expect(strict.meaning(of: "/?url=a.test/p.jpg&\(meaning.target)") == meaning.parameters)
    }

    @Test(
        "A page is that of a picture with pages; what is named as JPEG or PNG has none",
        arguments: [
            Meaning("p.gif&pages=2&page=1", "format=source&frame=1&frames=2"),
            Meaning("p.gif&page=2", "format=source&frame=2"),
            Meaning("p.webp?v=a.png&n=-1&page=2", "format=source&frame=2&frames=all"),
            Meaning("p.jpg&page=2", "format=source&animate=first"),
            Meaning("p.PNG?v=1&n=-1&page=2", "format=source"),
        ])
    func pages(_ meaning: Meaning) {
        #expect(strict.meaning(of: "/?url=a.test/\(meaning.target)") == meaning.parameters)
    }

    @Test("Facts are requested by a format, and say the result's size where that follows from the parameters")
    func facts() throws {
        let target = DialectTarget("/?url=a.test/p.gif&output=json&n=-1&w=40")
        #expect(try strict.translate(target).answer == .facts)
        var parser = JSONParser(
            Array(#"{"format":"gif","uprightWidth":80,"uprightHeight":60,"frames":3,"alpha":true}"#.utf8))
        #expect(
            try strict.facts(from: parser.parse(), for: target).compact
                == #"{"format": "gif", "width": 40, "height": 90, "hasAlpha": true}"#)
    }

    @Test("A failure may be a redirect to the source or to another picture, and a picture a data URL")
    func redirects() throws {
        #expect(
            try strict.translate(DialectTarget("/?url=a.test/p.jpg&default=1")).redirect?.value
                == "http://a.test/p.jpg")
        let other = DialectTarget("/?url=a.test/p.jpg&errorredirect=https%3A%2F%2Fb.test%2Fq%20r.jpg")
        #expect(try strict.translate(other).redirect?.value == "https://b.test/q%20r.jpg")
        #expect(strict.meaning(of: "/?url=a.test/p.jpg&default=javascript:alert(1)") == "invalid default")
        #expect(try strict.translate(DialectTarget("/?url=a.test/p.jpg&encoding=base64")).answer == .dataURL)
        #expect(strict.meaning(of: "/?url=a.test/p.jpg&encoding=hex") == "invalid encoding")
    }

    @Test(
        "What weserv ignores is refused, or ignored and named where the dialect is lenient",
        arguments: [
            "w=-5", "w=abc", "w=%20200", "w=150%25", "dpr=9", "fit=xyz", "a=xyz", "trim=300", "crop=1,2,3",
            "bg=xyz",
            "mask=xyz", "q=101", "output=jpeg", "nosuch=1", "W=100", "amp;w=100", "con=200", "filename=a.png",
            "fpx=0.2", "ro=abc", "w=20000000", "a=tl",
        ])
    func leniency(_ parameter: String) throws {
        let name = parameter.prefix { $0 != "=" }
        #expect(strict.meaning(of: "/?url=a.test/p.jpg&\(parameter)") == "invalid \(name)")
        let translation = try lenient.translate(DialectTarget("/?url=a.test/p.jpg&\(parameter)"))
        #expect(translation["transform"] == nil)
        #expect(translation.ignored.count == 1)
        #expect(translation.ignored[0].hasPrefix("\(name): "))
    }

    @Test("The first of several equal parameters wins, also among synonyms")
    func repetition() {
        #expect(
            lenient.meaning(of: "/?url=a.test&w=200&width=100") == "transform=resize:200x:enlarge=1"
                + Self.usual)
        #expect(lenient.meaning(of: "/?url=a.test&w=abc&w=100") == "format=source&animate=first")
        #expect(
            lenient.meaning(of: "/?url=a.test&mod=1,0.5&sat=2") == "transform=modulate:1:0.5:0" + Self.usual)
        #expect(
            lenient.meaning(of: "/?url=a.test&cw=50&crop=9,8,7,6")
                == "transform=crop:50x8:x=7:y=6:lenient=sides" + Self.usual)
        #expect(strict.meaning(of: "/?url=a.test&w=200&width=100") == "invalid width")
    }

    @Test(
        "The source is decoded once, and is http where it names no scheme",
        arguments: [
            Meaning("/?url=a.test/p.jpg", "http://a.test/p.jpg"),
            Meaning("/any/path?w=1&URL=a.test:8080/p.jpg", "http://a.test:8080/p.jpg"),
            Meaning("/?url=https%3A%2F%2Fa.test%2Fp.jpg", "https://a.test/p.jpg"),
            Meaning("/?url=HTTPS://a.test/p.jpg", "HTTPS://a.test/p.jpg"),
            Meaning("/?url=a.test/q?x=1%26y=2&w=1", "http://a.test/q?x=1&y=2"),
            Meaning("/?url=a.test/sp%20ace+%C3%BC%2B", "http://a.test/sp%20ace+%C3%BC+"),
            Meaning("/?url=a.test/sp%2520ace", "http://a.test/sp%20ace"),
            Meaning("/?url=a.test/p.jpg#part", "http://a.test/p.jpg"),
            Meaning("/?url=//a.test/p.jpg", "invalid url"),
            Meaning("/?url=/a.test/p.jpg", "http://a.test/p.jpg"),
            Meaning("/?url=http:///a.test/p.jpg", "http://a.test/p.jpg"),
            Meaning("/?url=http:/a.test/p.jpg", "invalid url"),
            Meaning("/?url=ssl:a.test/p.jpg", "invalid url"),
            Meaning("/?url=ftp://a.test/p.jpg", "invalid url"),
            Meaning("/?url=javascript:alert(1)", "invalid url"),
            Meaning("/?url=", "invalid url"),
            Meaning("/?w=100", "invalid url"),
            Meaning("/", "invalid url"),
        ])
    func sources(_ meaning: Meaning) {
        #expect(lenient.source(of: meaning.target) == meaning.parameters)
    }

    @Test(
        "URLs as nuxt/image and unpic write them",
        arguments: [
            Meaning(
                "/?filename=test.png&we&url=https%3A%2F%2Fa.test%2Ftest.png", "format=source&animate=first"),
            Meaning(
                "/?filename=test.png&we&w=200&h=200&fit=contain&output=jpg&url=https%3A%2F%2Fa.test%2Ftest.png",
                "transform=resize:200x200,extend:200x200:color=00000000,background:000&format=jpeg&animate=first"
            ),
            Meaning(
                "/?url=a.test%2Fimage.jpg&w=300&h=200&fit=cover",
                "transform=resize:300x200:cover:enlarge=1&format=source&animate=first"),
            Meaning(
                "/?url=a.test%2Fimage.jpg&w=300&dpr=2&blur=5&fit=cover&q=80&output=webp",
                "transform=resize:600x:enlarge=1,blur:5&format=webp&quality=80&animate=first"),
        ])
    func clients(_ meaning: Meaning) {
        #expect(lenient.meaning(of: meaning.target) == meaning.parameters)
    }
}
