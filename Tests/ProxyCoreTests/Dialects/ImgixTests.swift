// SPDX-License-Identifier: Apache-2.0

import Dialects
import Testing

@Suite("URLs of imgix")
struct ImgixTests {
    private static func dialect(
        keys: [String] = [], _ change: (inout Imgix.Settings) -> Void = { _ in }
    )
        throws -> Imgix
    {
        var settings = Imgix.Settings()
        settings.base = "https://bucket.test/"
        change(&settings)
        return try Imgix(settings, keys: keys.map { Array($0.utf8) })
    }

    @Test(
        "Parameters become parameters of ours",
        arguments: [
            Meaning("", "format=source"),
            Meaning("w=100&h=50", "transform=resize:100x50:enlarge=1&format=source"),
            Meaning("w=0.5", "transform=resize:50pcx:enlarge=1&format=source"),
            Meaning("w=100&dpr=1.5", "transform=resize:150x:enlarge=1&format=source"),
            Meaning("w=100&h=50&fit=max", "transform=resize:100x50&format=source"),
            Meaning("w=100&fit=min", "transform=resize:100x&format=source"),
            Meaning("w=100&h=50&fit=min", "transform=resize:100x50:cover&format=source"),
            Meaning("w=100&h=50&fit=scale", "transform=resize:100x50:fill:enlarge=1&format=source"),
            Meaning(
                "w=100&h=50&fit=facearea",
                "transform=resize:100x50:cover:gravity=smart:enlarge=1&format=source"),
            Meaning("w=320&ar=16:9&fit=crop", "transform=resize:320x180:cover:enlarge=1&format=source"),
            Meaning("ar=16:9&fit=crop&crop=top", "transform=crop:16x9:gravity=north:ratio=1&format=source"),
            Meaning(
                "w=100&h=50&fit=crop&crop=bottom,right",
                "transform=resize:100x50:cover:gravity=southeast:enlarge=1&format=source"),
            Meaning(
                "w=100&h=50&fit=crop&crop=faces,top",
                "transform=resize:100x50:cover:gravity=smart:enlarge=1&format=source"),
            Meaning(
                "w=100&h=50&fit=crop&crop=focalpoint&fp-x=0.2&fp-y=0.3",
                "transform=resize:100x50:cover:gravity=focal:fx=0.2:fy=0.3:enlarge=1&format=source"),
            Meaning(
                "w=100&h=50&fit=crop&crop=focalpoint&fp-x=0.2&fp-z=2",
                "transform=resize:200x100:outside:enlarge=1,crop:100x50:gravity=focal:fx=0.2:fy=0.5&format=source"
            ),
            Meaning(
                "w=100&h=50&fit=fill&fill=solid&fill-color=8f00",
                "transform=resize:100x50:enlarge=1,extend:100x50:color=ff000088&format=source"),
            Meaning(
                "w=100&h=50&fit=fill&fill=blur",
                "transform=resize:100x50:enlarge=1,extend:100x50:fill=blur&format=source"),
            Meaning("w=100&h=50&fit=fillmax", "transform=resize:100x50,extend:100x50&format=source"),
            Meaning(
                "w=100&h=50&fit=clamp",
                "transform=resize:100x50:enlarge=1,extend:100x50:fill=edge&format=source"),
            Meaning(
                "rect=100,50,200,150&w=100",
                "transform=crop:200x150:x=100:y=50,resize:100x:enlarge=1&format=source"),
            Meaning("pad=10", "transform=pad:10:10:10:10:color=00000000&format=source"),
            Meaning(
                "w=100&h=50&pad=10&pad-left=20&bg=fff",
                "transform=resize:70x30:enlarge=1,pad:10:10:10:20:color=ffffff,background:ffffff&format=source"
            ),
            Meaning("or=6&rot=90&flip=h", "transform=orient:6,flip:h,rotate:270&format=source"),
            Meaning("trim=auto&trim-md=20", "transform=trim:20&format=source"),
            Meaning("trim=color&trim-color=f00", "transform=trim:0:color=ff0000&format=source"),
            Meaning(
                "sat=-100&bri=20&con=-10", "transform=brightness:1.2,contrast:0.9,saturation:0&format=source"),
            Meaning(
                "exp=50&gam=100&hue=90&sepia=50",
                "transform=exposure:1,gamma:0.5,hue:90,sepia:0.5&format=source"),
            Meaning("invert=true&blur=50&px=8", "transform=invert,blur:5,pixelate:8&format=source"),
            Meaning("sharp=20&usm=50&usmrad=3", "transform=sharpen:amount=2,sharpen:3:0.5&format=source"),
            Meaning("duotone=000080,FA8072", "transform=duotone:000080:fa8072&format=source"),
            Meaning("mask=corners&corner-radius=10", "transform=round:10&format=source"),
            Meaning(
                "pad=10&bg=80ff0000",
                "transform=pad:10:10:10:10:color=00000000,background:ff000080&format=source"),
            Meaning("mask=ellipse&mask-bg=fff", "transform=mask:ellipse,background:ffffff&format=source"),
            Meaning("border=5,f00&border-radius=8", "transform=round:8:border=5:color=ff0000&format=source"),
            Meaning("fm=pjpg&q=0", "format=jpeg&progressive=1&quality=1"),
            Meaning("fm=png&q=50", "format=png"),
            Meaning("fm=webp&lossless=1&q=50", "format=webp&lossless=1"),
            Meaning("lossless=1", "format=source"),
            Meaning("auto=format,compress&fm=jpg&q=60", "format=auto&quality=60"),
            Meaning("dl=a%20b.jpg", "format=source&download=1&filename=a b.jpg"),
            Meaning("expires=1700000000", "format=source&expires=1700000000"),
            Meaning("w64=MTAw", "transform=resize:100x:enlarge=1&format=source"),
            Meaning("ixlib=js-3.8.0&ixid=abc&s=ignored", "format=source"),
        ])
    func parameters(_ meaning: Meaning) throws {
        #expect(try Self.dialect().meaning(of: "/p.jpg?\(meaning.target)") == meaning.parameters)
    }

    @Test(
        "What has no equivalent is refused also by a lenient dialect",
        arguments: [
            "txt=hello", "txt-size=3", "txt64=aGk", "mark=x", "mark-align=top", "blend=x",
            "fm=mp4",
            "auto=enhance", "max-w=100", "page=2", "w=100&h=50&fit=fill&fill=gen", "w=0.5&h=50&fit=fill",
            "mask=/m.png",
            "corner-radius=1,2,3,4&mask=corners", "duotone=000,fff&duotone-alpha=50",
        ])
    func unsupported(_ query: String) throws {
        #expect(
            try Self.dialect { $0.lenient = true }.meaning(of: "/p.jpg?\(query)").hasPrefix("unsupported "))
    }

    @Test(
        "What imgix ignores is refused, or ignored and named where the dialect is lenient",
        arguments: [
            "w=abc", "w=-1", "nosuch=1", "fit=xyz", "fm=xyz", "bg=nosuch", "sat=200", "rect=1,2,3", "q=101",
            "border=5",
        ])
    func leniency(_ parameter: String) throws {
        let name = parameter.prefix { $0 != "=" }
        #expect(try Self.dialect().meaning(of: "/p.jpg?\(parameter)") == "invalid \(name)")
        let translation = try Self.dialect { $0.lenient = true }.translate(
            DialectTarget("/p.jpg?\(parameter)"))
        #expect(translation["transform"] == nil)
        #expect(translation.ignored.count == 1)
    }

    @Test(
        "The source is a path on the base",
        arguments: [
            Meaning("/deep/er/p.jpg?w=1", "https://bucket.test/deep/er/p.jpg"),
            Meaning("/p%20q.jpg", "https://bucket.test/p%20q.jpg"),
            Meaning("/a/../../p.jpg", "invalid path"),
            Meaning("/%2e%2e%2fp.jpg", "invalid path"),
            Meaning(
                "/https%3A%2F%2Fevil.test%2Fp.jpg", "https://bucket.test/https%3A%2F%2Fevil.test%2Fp.jpg"),
        ])
    func sources(_ meaning: Meaning) throws {
        #expect(try Self.dialect().source(of: meaning.target) == meaning.parameters)
    }

    @Test("Without a base the path is a URL, encoded once")
    func webProxy() throws {
        let dialect = try Imgix()
        #expect(dialect.source(of: "/https%3A%2F%2Fa.test%2Fp.jpg%3Fx%3D1?w=1") == "https://a.test/p.jpg?x=1")
        #expect(dialect.source(of: "/https://a.test/p%20q.jpg") == "https://a.test/p%20q.jpg")
        #expect(dialect.source(of: "/p.jpg") == "invalid path")
        #expect(dialect.source(of: "/file%3A%2F%2F%2Fetc%2Fpasswd") == "invalid path")
        #expect(dialect.source(of: "/https%253A%252F%252Fa.test%252Fp.jpg") == "invalid path")
    }

    // MARK: - Signatures

    /// MD5 of the token and what stands before `s`, by coreutils' md5sum.
    private static let signed = [
        "/p.jpg?w=100&s=4cc268dcee976bef957ef28230f8e7bb",
        "/p.jpg?s=64d1559eda892d0770b70ffe390e8210", "/p.jpg?s=cce7fc5f88980b5d5bb45777bc9f5d1d",
    ]

    @Test("A signature covers the path and the other parameters in their order")
    func signature() throws {
        let dialect = try Self.dialect(keys: ["other", "token"])
        for target in Self.signed { #expect(try dialect.translate(DialectTarget(target)).isSigned) }
        #expect(
            try dialect.translate(DialectTarget("/p.jpg?w=100&s=4CC268DCEE976BEF957EF28230F8E7BB")).isSigned)
    }

    @Test(
        "A wrong, missing or misplaced signature is refused",
        arguments: [
            "/p.jpg?w=100", "/p.jpg", "/p.jpg?w=101&s=4cc268dcee976bef957ef28230f8e7bb",
            "/q.jpg?w=100&s=4cc268dcee976bef957ef28230f8e7bb",
            "/p%2Ejpg?w=100&s=4cc268dcee976bef957ef28230f8e7bb",
            "/p.jpg?s=4cc268dcee976bef957ef28230f8e7bb&w=100",
            "/p.jpg?w=100&s=4cc268dcee976bef957ef28230f8e7b",
            "/p.jpg?w=100&s=", "/p.jpg?w=100&s", "/p.jpg?w=100&h=1&s=4cc268dcee976bef957ef28230f8e7bb",
            "/p.jpg?w=100&w=100&s=4cc268dcee976bef957ef28230f8e7bb",
            "/p.jpg?w=100&%73=4cc268dcee976bef957ef28230f8e7bb",
        ])
    func refusals(_ target: String) throws {
        #expect(try Self.dialect(keys: ["token"]).meaning(of: target) == "signature s")
    }

    @Test("An empty token signs nothing, and MD5's padding can't be part of a target")
    func weakSignatures() throws {
        #expect(
            try Self.dialect(keys: [""]).meaning(of: "/p.jpg?w=100&s=aecc9521c56be54ace79619ec2b3d5cc")
                == "signature s")
        #expect(
            try Self.dialect(keys: ["token"]).meaning(of: "/p\u{80}.jpg?s=fac25e00a014f56573ee3e4499651314")
                == "signature s")
    }

    @Test(
        "URLs as nuxt/image and unpic write them",
        arguments: [
            Meaning(
                "/test.png?w=200&h=200&fit=fill&fm=jpeg",
                "transform=resize:200x200:enlarge=1,extend:200x200&format=jpeg"),
            Meaning(
                "/photo-1674255909399-9bcb2cab6489?w=200&h=100&fit=min&auto=format",
                "transform=resize:200x100:cover&format=auto"),
            Meaning(
                "/photo-1674255909399-9bcb2cab6489?w=200&h=300&q=80&fit=crop",
                "transform=resize:200x300:cover:enlarge=1&format=source&quality=80"),
            Meaning(
                "/blog/woman-hat.jpg?w=300&h=500&fit=crop&auto=format,compress&crop=faces",
                "transform=resize:300x500:cover:gravity=smart:enlarge=1&format=auto"),
        ])
    func clients(_ meaning: Meaning) throws {
        #expect(try Self.dialect().meaning(of: meaning.target) == meaning.parameters)
    }
}
