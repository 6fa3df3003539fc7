// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Freshness
@testable import Imaging
@testable import Primitives
@testable import Request
@testable import URLs

@Suite("The parameters of an image")
struct ImageRequestParserTests {
    private static let url = "url=http%3A%2F%2Fexample.org%2Fa.jpg"

    private func parse(
        _ query: String, accept: [ImageFormat] = [], sources: [String] = [], isSigned: Bool = false,
        hint: Double? = nil, _ change: (inout RequestPolicy) -> Void = { _ in }
    ) throws -> ImageRequest {
        var policy = RequestPolicy(sources: try SourcePolicy(patterns: sources))
        change(&policy)
        let parser = ImageRequestParser(
            limits: RenderLimits(), formats: FormatsConfiguration(), quality: QualityConfiguration(),
            policy: policy)
        let field = Array(accept.map { $0.traits.mediaType }.joined(separator: ",").utf8)
        let screen = hint.map { ImageRequestParser.ScreenHint(ratio: $0) }
        return try parser.parse(query: Array(query.utf8), isSigned: isSigned, dpr: screen) {
            field.withUnsafeBytes {
                unsafe AcceptClass(accept: $0, candidates: AutomaticFormats([.avif, .webp]))
            }
        }
    }

    @Test("priority=high needs a signed URL, a preset, or the configuration; lower values need nothing")
    func priorities() throws {
        let (high, low) = ("\(Self.url)&priority=high", "\(Self.url)&priority=low")

        #expect(throws: ImageRequestError.optionForbidden("priority=high")) { try parse(high) }
        #expect(try parse(low).delivery.priority == .low)
        #expect(try parse(Self.url + "&priority=normal").delivery.priority == .normal)
        #expect(try !parse(Self.url).mayGoFirst)
        #expect(try parse(high, isSigned: true).delivery.priority == .high)
        #expect(try parse(Self.url, isSigned: true).mayGoFirst)
        #expect(try parse(high) { $0.allowsHighPriority = true }.delivery.priority == .high)
        let preset = Preset(parameters: ["priority": "high"])
        #expect(try parse(Self.url + "&preset=a") { $0.presets = ["a": preset] }.delivery.priority == .high)
    }

    @Test(
        "The bound on work applies to unsigned transforms, not to a preset alone nor a signed URL"
    )
    func workLimits() throws {
        let limit = RenderLimits().unsignedWork
        let plain = ["transform": "resize:30x", "format": "avif"]
        let presets = ["a": plain, "b": plain.merging(["dpr": "auto"]) { $1 }].mapValues(Preset.init)
        func limitOfPreset(_ more: String, named name: String = "a", hint: Double? = nil) throws -> Int? {
            try parse("\(Self.url)&preset=\(name)\(more)", hint: hint) { $0.presets = presets }.workLimit
        }

        #expect(try parse(Self.url + "&transform=resize:30x").workLimit == limit)
        #expect(try parse(Self.url).workLimit == limit, "a rule may have it encoded anew")
        #expect(try parse(Self.url + "&transform=resize:30x", isSigned: true).workLimit == nil)
        #expect(try limitOfPreset("") == nil)
        #expect(try limitOfPreset("&priority=low&filename=a") == nil)
        #expect(try limitOfPreset("&quality=90") == limit)
        #expect(try limitOfPreset("&dpr=2") == limit)
        #expect(try limitOfPreset("&options=scale-down-large") == limit)
        #expect(try limitOfPreset("", hint: 8) == nil)
        #expect(try limitOfPreset("", named: "b", hint: 8) == limit)
        let (signed, unsigned) = (try parse(Self.url, isSigned: true), try parse(Self.url))
        #expect(signed.resultKey == unsigned.resultKey, "no part of any key")
    }

    @Test("with only the URL, the request is for the source's own bytes")
    func untouched() throws {
        let request = try parse(Self.url)

        #expect(request.plan == nil)
        #expect(!request.isNegotiated)
        #expect(request.source.normalized == "http://example.org/a.jpg")
        #expect(request.resultKey != request.sourceKey)
    }

    @Test(
        "any parameter that changes bytes requires a new encoding",
        arguments: [
            "transform=flip:h", "format=auto", "format=png", "quality=80", "lossless=1", "progressive=0",
            "metadata=keep", "frame=0", "animate=first", "animate=0",
        ])
    func reencoding(parameter: String) throws {
        #expect(try parse("\(Self.url)&\(parameter)").plan != nil)
    }

    @Test(
        "two spellings of one result have one key",
        arguments: [
            ("transform=blur:2.0", "transform=blur:sigma=2"),
            ("transform=resize:100x100:fit", "transform=resize:100x100"),
            ("transform=resize:50x50&dpr=2", "transform=resize:100x100"),
            ("format=jpeg&quality=80", "format=jpeg"),
            ("format=webp&lossless=0", "format=webp"),
            ("format=jpeg&animate=first", "animate=0&format=jpeg"),
        ])
    func oneKey(left: String, right: String) throws {
        #expect(try parse("\(Self.url)&\(left)").resultKey == parse("\(right)&\(Self.url)").resultKey)
    }

    @Test(
        "different results have different keys",
        arguments: [
            ("format=jpeg", "format=png"), ("quality=80", "quality=81"),
            ("transform=flip:h", "transform=flip:v"),
            ("frame=0", "frame=1"), ("frames=2", "frames=3"), ("lossless=1", "lossless=0"),
            ("metadata=keep", "metadata=none"),
        ])
    func differentKeys(left: String, right: String) throws {
        #expect(try parse("\(Self.url)&\(left)").resultKey != parse("\(Self.url)&\(right)").resultKey)
    }

    @Test(
        "A parameter that the wanted encoding can't have is refused by its name",
        arguments: [
            ("format=png&quality=50", "quality", "png has no quality"),
            ("format=gif&quality=50", "quality", "gif has no quality"),
            ("format=tiff&quality=50", "quality", "tiff has no quality"),
            ("format=webp&lossless=1&quality=50", "quality", "only without 'lossless'"),
            ("animate=first&frames=2", "animate", "'first' only without 'frames'"),
            ("animate=0&frame=1&frames=3", "animate", "'first' only without 'frames'"),
            ("lossless=1&quality=50", "quality", "only without 'lossless'"),
            ("format=webp&progressive=1", "progressive", "webp is never progressive"),
            ("format=gif&lossless=1", "lossless", "gif is never lossless"),
            ("format=jpeg&lossless=1", "lossless", "jpeg is never lossless"),
        ])
    func meaningless(parameters: String, name: String, reason: String) {
        #expect(throws: ImageRequestError.invalidParameter(name: name, position: 0, reason: reason)) {
            try parse("\(Self.url)&\(parameters)")
        }
    }

    @Test(
        "A parameter that the wanted encoding can have, or that changes nothing, is accepted",
        arguments: [
            "quality=50", "format=auto&quality=50", "format=source&quality=50", "format=avif&quality=50",
            "format=png&lossless=1", "format=avif&lossless=1", "format=png&progressive=1",
            "format=webp&progressive=0", "format=webp&lossless=0&quality=50",
        ])
    func meaningful(parameters: String) throws {
        #expect(try parse("\(Self.url)&\(parameters)").plan != nil)
    }

    @Test(
        "A preset's quality gives way to a format of the request that has none; one that has it beside such a format is refused"
    )
    func presetQuality() throws {
        let soft = Preset(parameters: ["quality": "50", "progressive": "1"])
        let limits = (RenderLimits(), FormatsConfiguration(), QualityConfiguration())
        var policy = RequestPolicy(sources: .unrestricted)
        policy.presets = ["soft": soft, "png": Preset(parameters: ["format": "png"])]
        let parser = ImageRequestParser(
            limits: limits.0, formats: limits.1, quality: limits.2, policy: policy)
        func parse(_ parameters: String) throws -> ImageRequest {
            try parser.parse(query: Array("\(Self.url)&\(parameters)".utf8)) { AcceptClass() }
        }

        #expect(try parse("preset=soft&format=gif").resultKey == parse("format=gif").resultKey)
        #expect(try parse("preset=soft&lossless=1").plan?.quality == nil)
        #expect(try parse("preset=soft&format=webp").plan?.quality == 50)
        #expect(throws: ImageRequestError.self) { try parse("preset=png&quality=50") }
        #expect(parser.problems(of: Preset(parameters: ["format": "png", "quality": "50"])).count == 1)
        #expect(parser.problems(of: soft).isEmpty)
    }

    @Test(
        "An unknown parameter, another proxy's or misspelled, is answered with the name of the one that is meant",
        arguments: [
            ("width", "resize:300x200"), ("w", "resize:300x200"), ("H", "resize:300x200"), ("fit", ":cover"),
            ("resize", "transform=resize"), ("blur", "transform=blur"), ("q", "'quality'"),
            ("fm", "'format'"),
            ("src", "'url'"), ("qualty", "'quality'"), ("resize:300x200", "transform=resize:300x200"),
            ("amp;format", "'&amp;'"),
        ])
    func unknownParameters(name: String, hint: String) {
        let error = #expect(throws: ImageRequestError.self) { try parse("\(name)=5&\(Self.url)") }

        let said: String? = if case .unknownParameter(_, let said) = error { said } else { nil }
        #expect(said?.contains(hint) == true, "\(String(describing: error))")
    }

    @Test("Flags may be true and false, a size may have a unit, and jpg is jpeg")
    func spellings() throws {
        let small = Self.url + "&format=webp"

        #expect(try parse(small + "&lossless=true").resultKey == parse(small + "&lossless=1").resultKey)
        #expect(try parse(small + "&lossless=false").resultKey == parse(small + "&lossless=0").resultKey)
        #expect(
            try parse(small + "&max_bytes=20KiB").resultKey == parse(small + "&max_bytes=20480").resultKey)
        #expect(try parse(Self.url + "&format=jpg").resultKey == parse(Self.url + "&format=jpeg").resultKey)
        #expect(throws: ImageRequestError.self) { try parse(small + "&max_bytes=0") }
        #expect(throws: ImageRequestError.self) { try parse(small + "&max_bytes=1GB") }
        #expect(throws: ImageRequestError.self) { try parse(small + "&max_bytes=20 KiB") }
    }

    @Test("Accept is part of the key only if it chooses the format")
    func acceptClass() throws {
        let automatic = "\(Self.url)&transform=flip:h"
        let explicit = automatic + "&format=png"

        #expect(try parse(automatic, accept: [.webp]).resultKey != parse(automatic).resultKey)
        #expect(try parse(explicit, accept: [.webp]).resultKey == parse(explicit).resultKey)
        #expect(try parse(automatic).isNegotiated)
        #expect(try !parse(explicit).isNegotiated)
    }

    @Test(
        "errors name the parameter",
        arguments: [
            ("", ImageRequestError.missingParameter("url")),
            ("transform=flip:h", .missingParameter("url")),
            (
                "\(url)&width=1",
                .unknownParameter(
                    name: "width",
                    hint:
                        "a size is written as transform=resize:300x200; if it belongs to the source URL, encode '&' in that as %26"
                )
            ),
            (
                "\(url)&Quality=1",
                .unknownParameter(
                    name: "Quality",
                    hint:
                        "did you mean 'quality'? if it belongs to the source URL, encode '&' in that as %26")
            ),
            (
                "\(url)&foo",
                .unknownParameter(
                    name: "foo", hint: "if it belongs to the source URL, encode '&' in that as %26")
            ),
            (
                "qality=&\(url)", .unknownParameter(name: "qality", hint: "did you mean 'quality'?")
            ),
            (
                "\(url)&quality",
                .invalidParameter(name: "quality", position: 0, reason: "the value is empty")
            ),
            (
                "\(url)&options=wait-stor",
                .invalidParameter(
                    name: "options", position: 0,
                    reason: "'wait-stor' is none of "
                        + ImageOptions.names.map(\.name).joined(separator: ", ")
                        + "; did you mean 'wait-store'?")
            ),
            (
                "\(url)&quality=0",
                .invalidParameter(name: "quality", position: 0, reason: "must be from 1 to 100")
            ),
            (
                "\(url)&quality=8x",
                .invalidParameter(name: "quality", position: 1, reason: "only digits are allowed")
            ),
            (
                "\(url)&quality=%2B8",
                .invalidParameter(name: "quality", position: 0, reason: "only digits are allowed")
            ),
            (
                "\(url)&lossless=yes",
                .invalidParameter(name: "lossless", position: 0, reason: "must be one of 0, 1, false, true")
            ),
            (
                "\(url)&dpr=2",
                .invalidParameter(name: "dpr", position: 0, reason: "only together with 'transform'")
            ),
            (
                "\(url)&transform=flip:h&dpr=9",
                .invalidParameter(
                    name: "dpr", position: 0, reason: "must be from 0.5 to 8.0")
            ),
            (
                "\(url)&transform=flip:h&dpr=1e1",
                .invalidParameter(
                    name: "dpr", position: 0, reason: "must be digits with at most three decimals")
            ),
            (
                "\(url)&format=jxl",
                .invalidParameter(
                    name: "format", position: 0,
                    reason:
                        "must be one of auto, source, source-alpha, jpeg, png, webp, avif, gif, tiff; jxl only where formats.decode names it"
                )
            ),
            (
                "\(url)&transform=resize:60x,watermark:logo",
                .invalidParameter(name: "transform", position: 11, reason: "there is no watermark 'logo'")
            ),
            (
                "url=http%253A%252F%252Fa%252Fb",
                .invalidURL(
                    position: 0,
                    reason:
                        "it is percent-encoded twice: decoded once, it must begin with http:// or https://")
            ),
            ("url=ftp%3A%2F%2Fa", .unsupportedScheme("ftp")),
            (
                "url=http%3A%2F%2Fa%2Fb%20c",
                .invalidURL(
                    position: 10,
                    reason: "the source URL has a space: it must be %20 there, which is %2520 in 'url'")
            ),
            (
                "url=http%3A%2F%2Fa%2Fb%0Ac",
                .invalidURL(
                    position: 10,
                    reason:
                        "the source URL has a control character: it must be %0A there, which is %250A in 'url'"
                )
            ),
        ])
    func errors(query: String, error: ImageRequestError) {
        #expect(throws: error) { try parse(query) }
    }

    @Test("an error in the transform has its position")
    func transformPosition() {
        let error = #expect(throws: ImageRequestError.self) {
            try parse("\(Self.url)&transform=flip:h,spin:3")
        }

        let place: Int? = if case .invalidParameter("transform", let place, _) = error { place } else { nil }
        #expect(place == 7, "\(String(describing: error))")
    }

    @Test(
        "skip sends sources as they are unless the URL names another format",
        arguments: [
            ("", [ImageFormat.jpeg, .gif]), ("&format=auto", [.jpeg, .gif]), ("&format=jpg", [.jpeg]),
            ("&format=webp", []),
        ])
    func skipped(format: String, formats: [ImageFormat]) throws {
        #expect(try parse("\(Self.url)&transform=flip:h&skip=jpeg,gif\(format)").plan?.skipped == formats)
    }

    @Test(
        "format=auto: takes only formats that are written", arguments: ["jxl", "heic", "svg", "webp+svg"])
    func unwritable(names: String) {
        let error = #expect(throws: ImageRequestError.self) {
            try parse("\(Self.url)&format=auto:\(names)")
        }
        let said: String? = if case .invalidParameter("format", _, let said) = error { said } else { nil }
        #expect(
            said?.hasSuffix("; formats are jpeg, png, webp, avif, gif, tiff") == true,
            "\(String(describing: error))")
    }

    @Test("a source that no pattern allows is forbidden")
    func forbiddenSource() {
        #expect(throws: ImageRequestError.sourceForbidden) {
            try parse(Self.url, sources: ["https://example.org"])
        }
    }

    @Test("Fragments are in no key, and are never sent")
    func fragments() throws {
        let parser = ImageRequestParser(
            limits: RenderLimits(), formats: FormatsConfiguration(), quality: QualityConfiguration(),
            policy: RequestPolicy(sources: .unrestricted))
        let requests = try ["", "%23a", "%23" + String(repeating: "b", count: 7_900)].map { fragment in
            try parser.parse(query: Array("url=http://a.example/p.jpg\(fragment)&quality=80".utf8)) {
                AcceptClass()
            }
        }

        #expect(Set(requests.map(\.sourceKey)).count == 1)
        #expect(Set(requests.map(\.resultKey)).count == 1)
        #expect(requests.allSatisfy { $0.sourceKeyText == "source http://a.example/p.jpg" })
    }

    @Test("Tags need a signed request, a preset, or the configuration")
    func tags() throws {
        var policy = RequestPolicy(sources: .unrestricted)
        policy.presets = ["spring": Preset(parameters: ["tag": "spring"])]
        func parse(_ query: String, isSigned: Bool = false) throws -> [String] {
            try ImageRequestParser(
                limits: RenderLimits(), formats: FormatsConfiguration(), quality: QualityConfiguration(),
                policy: policy
            ).parse(query: Array("url=http://a.example/p.jpg&\(query)".utf8), isSigned: isSigned) {
                AcceptClass()
            }.delivery.tags
        }

        #expect(throws: ImageRequestError.optionForbidden("tag")) { try parse("tag=a") }
        #expect(throws: ImageRequestError.optionForbidden("tag")) { try parse("preset=spring&tag=a") }
        #expect(try parse("tag=a", isSigned: true) == ["a"])
        #expect(try parse("preset=spring") == ["spring"])
        policy.allowsUnsignedTags = true
        #expect(try parse("tag=a") == ["a"])
    }
}
