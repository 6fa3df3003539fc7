// SPDX-License-Identifier: Apache-2.0

import Dialects
import Primitives
import Testing

@Suite("URLs of Cloudflare")
struct CloudflareTests {
    private let dialect: Cloudflare

    init() throws {
        var settings = Cloudflare.Settings()
        settings.base = "https://zone.test/pictures"
        settings.allowedHosts = ["a.test", "*.b.test"]
        dialect = try Cloudflare(settings)
    }

    @Test(
        "Options become parameters, whatever their order",
        arguments: [
            Meaning("width=200", "transform=resize:200x&format=source"),
            Meaning("h=100,w=200", "transform=resize:200x100&format=source"),
            Meaning("w=800,h=800,fit=contain", "transform=resize:800x800:enlarge=1&format=source"),
            Meaning("w=300,h=200,fit=cover", "transform=resize:300x200:cover:enlarge=1&format=source"),
            Meaning("w=300,h=200,fit=crop", "transform=resize:300x200:crop&format=source"),
            Meaning("w=300,fit=crop", "transform=resize:300x&format=source"),
            Meaning("w=300,h=200,fit=squeeze", "transform=resize:300x200:fill:enlarge=1&format=source"),
            Meaning(
                "w=300,h=200,fit=pad",
                "transform=resize:300x200:enlarge=1,extend:300x200:color=ffffff&format=source"),
            Meaning(
                "w=300,h=200,fit=pad,background=rgb%28255%2C0%2C0%29",
                "transform=resize:300x200:enlarge=1,extend:300x200:color=ff0000,background:ff0000&format=source"
            ),
            Meaning(
                "background=rgba%280%200%20255%20%2F%2050%25%29",
                "transform=background:0000ff80&format=source"),
            Meaning(
                "w=100,h=100,fit=pad,background=%23f008",
                "transform=resize:100x100:enlarge=1,extend:100x100:color=00000000,background:ff000088&format=source"
            ),
            Meaning("background=%23f008", "transform=background:ff000088&format=source"),
            Meaning(
                "w=150,h=150,fit=cover,gravity=0.2x0.8",
                "transform=resize:150x150:cover:gravity=share:fx=0.2:fy=0.8:enlarge=1&format=source"),
            Meaning(
                "w=150,h=150,fit=cover,g=right",
                "transform=resize:150x150:cover:gravity=east:enlarge=1&format=source"),
            Meaning(
                "w=150,h=150,fit=cover,g=face",
                "transform=resize:150x150:cover:gravity=smart:enlarge=1&format=source"),
            Meaning("w=100,dpr=1.5", "transform=resize:150x&format=source"),
            Meaning("width=auto,dpr=2", "format=source"),
            Meaning("rotate=90,w=100,flip=h", "transform=flip:h,rotate:90,resize:100x&format=source"),
            Meaning("trim=20;0;10;5,w=100", "transform=inset:20:0:10:5,resize:100x&format=source"),
            Meaning(
                "trim.left=40,trim.top=30,trim.width=320,trim.height=220",
                "transform=crop:320x220:x=40:y=30&format=source"),
            Meaning("trim.top=30", "transform=crop:100pcx100pc:x=0:y=30&format=source"),
            Meaning("f=auto,q=50", "format=auto&quality=50"),
            Meaning("format=baseline-jpeg,quality=low", "format=jpeg&progressive=0&quality=45"),
            Meaning("f=png,q=50", "format=png"),
            Meaning("metadata=none,anim=false", "format=source&metadata=none&animate=first"),
            Meaning("metadata=copyright,compression=fast,scq=50", "format=source"),
            Meaning(
                "blur=20,sharpen=2,brightness=1.2,contrast=0.9,gamma=2,saturation=0",
                "transform=brightness:1.2,contrast:0.9,gamma:0.5,saturation:0,blur:10,sharpen:amount=2&format=source"
            ),
        ])
    func options(_ meaning: Meaning) {
        #expect(dialect.meaning(of: "/cdn-cgi/image/\(meaning.target)/p.jpg") == meaning.parameters)
    }

    @Test(
        "What is wrong names its option",
        arguments: [
            Meaning("width=abc", "invalid width"), Meaning("w=0", "invalid width"),
            Meaning("w=-5", "invalid width"),
            Meaning("w=100,width=200", "invalid width"), Meaning("fit=xyz", "invalid fit"),
            Meaning("g=2x0", "invalid gravity"), Meaning("g=side", "invalid gravity"),
            Meaning("f=bmp", "invalid format"),
            Meaning("q=0", "invalid quality"), Meaning("nosuch=1", "invalid nosuch"),
            Meaning("w", "invalid w"),
            Meaning("w=100,", "invalid "), Meaning("", "invalid "), Meaning("trim=1;2;3", "invalid trim"),
            Meaning("rotate=45", "invalid rotate"), Meaning("background=nosuch", "invalid background"),
            Meaning("zoom=0.5", "unsupported zoom"), Meaning("border=5", "unsupported border"),
        ])
    func errors(_ meaning: Meaning) {
        #expect(dialect.meaning(of: "/cdn-cgi/image/\(meaning.target)/p.jpg") == meaning.parameters)
    }

    @Test(
        "The source is a path on the zone, or an absolute URL of an allowed host",
        arguments: [
            Meaning("p.jpg", "https://zone.test/pictures/p.jpg"),
            Meaning("/sub/p%20q.jpg?v=1", "https://zone.test/pictures/sub/p%20q.jpg?v=1"),
            Meaning("https://a.test/p.jpg?x=1&y=2", "https://a.test/p.jpg?x=1&y=2"),
            Meaning("https:/a.test/p.jpg", "https://a.test/p.jpg"),
            Meaning("https%3A%2F%2Fa.test%2Fp.jpg%3Fx%3D1%26y%3D2", "https://a.test/p.jpg?x=1&y=2"),
            Meaning("http%3A%2F%2Fa.test:8080%2Fp.jpg", "http://a.test:8080/p.jpg"),
            Meaning("http://x.b.test/at@sign.jpg", "http://x.b.test/at@sign.jpg"),
            Meaning("https://b.test/p.jpg", "forbidden source"),
            Meaning("https://evil.test/p.jpg", "forbidden source"),
            Meaning("https://a.test.evil.test/p.jpg", "forbidden source"),
            Meaning("https://a.test@evil.test/p.jpg", "forbidden source"),
            Meaning("../secret.jpg", "invalid source"),
            Meaning("sub/%2e%2e/%2E%2E/secret.jpg", "invalid source"),
            Meaning("sub%2f..%2fsecret.jpg", "invalid source"),
            // The base's host stays, whatever the path begins with.
            Meaning("//evil.test/p.jpg", "https://zone.test/pictures//evil.test/p.jpg"),
        ])
    func sources(_ meaning: Meaning) {
        #expect(dialect.source(of: "/cdn-cgi/image/w=1/\(meaning.target)") == meaning.parameters)
    }

    @Test("Without a base only absolute URLs are sources; other paths are not found")
    func base() throws {
        #expect(try Cloudflare().source(of: "/cdn-cgi/image/w=1/p.jpg") == "forbidden source")
        #expect(
            try Cloudflare().source(of: "/cdn-cgi/image/w=1/https://any.test/p.jpg")
                == "https://any.test/p.jpg")
        #expect(dialect.source(of: "/image/w=1/p.jpg") == "notFound ")
        #expect(dialect.source(of: "/cdn-cgi/image/w=1") == "invalid ")
    }

    @Test("A failure may be a redirect to the source")
    func redirect() throws {
        let target = DialectTarget("/cdn-cgi/image/w=1,onerror=redirect/https://a.test/p.jpg")
        #expect(try dialect.translate(target).redirect?.value == "https://a.test/p.jpg")
        #expect(dialect.meaning(of: "/cdn-cgi/image/onerror=show/p.jpg") == "invalid onerror")
    }

    @Test("Facts are requested by a format")
    func facts() throws {
        let translation = try dialect.translate(DialectTarget("/cdn-cgi/image/w=1,f=json/p.jpg"))
        #expect(translation.answer == .facts)
        #expect(translation.parameters.map(\.name) == ["url"])
    }

    @Test(
        "URLs as nuxt/image and unpic write them",
        arguments: [
            Meaning(
                "/cdn-cgi/image/w=200,h=200,fit=contain,f=jpeg/test.png",
                "transform=resize:200x200:enlarge=1&format=jpeg"),
            Meaning(
                "/cdn-cgi/image/background=red,width=128,height=128,f=auto/uploads/generic/avatar-sample.jpeg",
                "transform=resize:128x128,background:ff0000&format=auto"),
            Meaning(
                "/cdn-cgi/image/width=200,height=100,f=webp,fit=cover/https://a.test/uploads/sample.jpeg",
                "transform=resize:200x100:cover:enlarge=1&format=webp"),
            Meaning(
                "/cdn-cgi/image/width=200,f=auto,fit=cover/https%3A%2F%2Fa.test%2Fsample.jpeg%3Fv%3D1",
                "transform=resize:200x:enlarge=1&format=auto"),
        ])
    func clients(_ meaning: Meaning) {
        #expect(dialect.meaning(of: meaning.target) == meaning.parameters)
    }
}
