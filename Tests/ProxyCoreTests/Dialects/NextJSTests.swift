// SPDX-License-Identifier: Apache-2.0

import Dialects
import Testing

@Suite("URLs of Next.js")
struct NextJSTests {
    private static func dialect(_ change: (inout NextJS.Settings) -> Void = { _ in }) throws -> NextJS {
        var settings = NextJS.Settings()
        settings.base = "http://127.0.0.1:3000"
        settings.remotePatterns = ["https://*.a.test/images/*"]
        change(&settings)
        return try NextJS(settings)
    }

    @Test("All three parameters are needed, once each, in any order")
    func parameters() throws {
        let dialect = try Self.dialect()
        let meaning = "transform=resize:640x&format=auto:webp&quality=75"
        #expect(dialect.meaning(of: "/_next/image?url=%2Fp.jpg&w=640&q=75") == meaning)
        #expect(dialect.meaning(of: "/_next/image?q=75&w=640&url=%2Fp.jpg&dpl=dpl_1") == meaning)
        #expect(dialect.meaning(of: "/_next/image/?q=75&w=640&url=%2Fp.jpg") == meaning)
        #expect(dialect.meaning(of: "/_next/image?url=%2Fp.jpg&q=75") == "invalid w")
        #expect(dialect.meaning(of: "/_next/image?url=%2Fp.jpg&w=640") == "invalid q")
        #expect(dialect.meaning(of: "/_next/image?w=640&q=75") == "invalid url")
        #expect(dialect.meaning(of: "/_next/image?url=%2Fp.jpg&w=640&q=75&w=640") == "invalid w")
        #expect(dialect.meaning(of: "/_next/picture?url=%2Fp.jpg&w=640&q=75") == "notFound ")
    }

    @Test("A width is one of the configured ones, a quality too where some are configured")
    func configured() throws {
        let dialect = try Self.dialect {
            $0.deviceSizes = [500]
            $0.imageSizes = [20]
            $0.qualities = [60]
            $0.formats = ["image/avif", "image/webp"]
        }
        #expect(
            dialect.meaning(of: "/_next/image?url=%2Fp.jpg&w=500&q=60")
                == "transform=resize:500x&format=auto:avif+webp&quality=60")
        #expect(dialect.meaning(of: "/_next/image?url=%2Fp.jpg&w=640&q=60") == "invalid w")
        #expect(dialect.meaning(of: "/_next/image?url=%2Fp.jpg&w=500&q=75") == "invalid q")
        #expect(
            try Self.dialect { $0.formats = [] }.meaning(of: "/_next/image?url=%2Fp.jpg&w=16&q=9").contains(
                "format=source"))
        #expect(throws: TranslationError.self) { try Self.dialect { $0.formats = ["image/png"] } }
        #expect(throws: TranslationError.self) { try Self.dialect { $0.remotePatterns = ["a.test"] } }
    }

    @Test(
        "Numbers are whole, and a quality is from 1 to 100",
        arguments: ["w=abc&q=75", "w=640.5&q=75", "w=640&q=0", "w=640&q=101", "w=640&q=", "w=+640&q=75"])
    func numbers(_ query: String) throws {
        #expect(try Self.dialect().meaning(of: "/_next/image?url=%2Fp.jpg&\(query)").hasPrefix("invalid "))
    }

    @Test("An unknown parameter is refused, or ignored where the dialect is lenient")
    func unknown() throws {
        let target = "/_next/image?url=%2Fp.jpg&w=640&q=75&h=1"
        #expect(try Self.dialect().meaning(of: target) == "invalid h")
        #expect(
            try Self.dialect { $0.lenient = true }.translate(DialectTarget(target)).ignored == [
                "h: is no parameter"
            ])
    }

    @Test(
        "The source is a path on the site, or an absolute URL that a pattern allows",
        arguments: [
            Meaning("%2Fp.jpg", "http://127.0.0.1:3000/p.jpg"),
            Meaning("/p.jpg", "http://127.0.0.1:3000/p.jpg"),
            Meaning(
                "%2F_next%2Fstatic%2Fmedia%2Fbunny.0e498116.jpg",
                "http://127.0.0.1:3000/_next/static/media/bunny.0e498116.jpg"),
            Meaning("%2Fp%20q.jpg%3Fx%3D1%26y%3D2", "http://127.0.0.1:3000/p%20q.jpg?x=1&y=2"),
            Meaning("https%3A%2F%2Fx.a.test%2Fimages%2Fp.jpg", "https://x.a.test/images/p.jpg"),
            Meaning("http%3A%2F%2Fx.a.test%2Fimages%2Fp.jpg", "forbidden url"),
            Meaning("https%3A%2F%2Fx.a.test%2Fother%2Fp.jpg", "forbidden url"),
            Meaning("https%3A%2F%2Fx.a.test%2Fimages%2F..%2Fother.jpg", "forbidden url"),
            Meaning("https%3A%2F%2Fevil.test%2F%3Fx.a.test%2Fimages%2F", "forbidden url"),
            Meaning("%2F%2Fevil.test%2Fp.jpg", "invalid url"),
            Meaning("%2F%5Cevil.test%2Fp.jpg", "http://127.0.0.1:3000/%5Cevil.test/p.jpg"),
            Meaning("%2F..%2Fsecret.jpg", "invalid url"),
            Meaning("%2F..%23secret.jpg", "invalid url"),
            Meaning("%2F.%23", "invalid url"),
            Meaning("%2F_next%2Fimage%3Furl%3D%252Fp.jpg", "invalid url"),
            Meaning("p.jpg", "invalid url"),
            Meaning("", "invalid url"),
        ])
    func sources(_ meaning: Meaning) throws {
        #expect(
            try Self.dialect().source(of: "/_next/image?url=\(meaning.target)&w=640&q=75")
                == meaning.parameters)
    }

    @Test(
        "URLs as nuxt/image and unpic write them",
        arguments: [
            Meaning(
                "/_vercel/image?url=%2Ftest.png&w=640&q=100",
                "transform=resize:640x&format=auto:webp&quality=100"),
            Meaning(
                "/_vercel/image?url=/image.jpg&w=1200&q=80",
                "transform=resize:1200x&format=auto:webp&quality=80"),
            Meaning(
                "/_next/image?w=828&q=75&url=%2F_next%2Fstatic%2Fmedia%2Fbunny.0e498116.jpg",
                "transform=resize:828x&format=auto:webp&quality=75"),
        ])
    func clients(_ meaning: Meaning) throws {
        #expect(try Self.dialect().meaning(of: meaning.target) == meaning.parameters)
    }
}
