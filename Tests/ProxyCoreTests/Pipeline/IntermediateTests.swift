// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Bodies
@testable import Cache
@testable import ImageTestSupport
@testable import Imaging
@testable import Observability
@testable import Pipeline
@testable import Primitives
@testable import Rendering
@testable import Request

/// The photo has 1200 × 800 pixels; its intermediate 600 × 400, so that results of up to 300 × 200 are made from it.
@Suite("Further sizes of a large original")
struct IntermediateTests {
    private static let fields = [("Cache-Control", "max-age=600")]

    private func fixture(
        _ change: (inout IntermediateConfiguration) -> Void = { _ in }
    ) throws -> PipelineFixture {
        var configuration = IntermediateConfiguration()
        configuration.side = 600
        configuration.minPixels = 100_000
        change(&configuration)
        let fixture = try PipelineFixture(intermediates: configuration)
        fixture.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        return fixture
    }

    /// Requests each and returns how it was made.
    private func kinds(_ fixture: PipelineFixture, _ transforms: [String]) async throws -> [EntryKind] {
        var kinds: [EntryKind] = []
        for transform in transforms {
            kinds.append(try await fixture.get("/a.jpg", "transform=" + transform).description.kind)
        }
        return kinds
    }

    private func stored(_ fixture: PipelineFixture) async throws -> [EntryKind] {
        let key = try fixture.request("/a.jpg").sourceKey
        return try await fixture.pipeline.tiers.disk.list(ofSource: key, limit: 100).map(\.id.kind)
            .sorted { $0.rawValue < $1.rawValue }
    }

    @Test("The second size writes the intermediate and is made from it; the first one has no extra cost")
    func secondSize() async throws {
        let fixture = try fixture()

        #expect(try await kinds(fixture, ["resize:300x&format=webp"]) == [.result])
        #expect(try await stored(fixture) == [.original, .result])
        #expect(try await kinds(fixture, ["resize:200x&format=webp"]) == [.derived])
        #expect(try await stored(fixture) == [.original, .result, .intermediate, .derived])
        let more = ["resize:150x150:cover&format=jpeg", "resize:x120,round:9,grayscale&format=webp"]
        #expect(try await kinds(fixture, more) == [.derived, .derived])
        #expect(
            try await stored(fixture) == [.original, .result, .intermediate] + [.derived, .derived, .derived])
        #expect(fixture.origin.count("/a.jpg") == 1)
    }

    @Test("An alpha channel that is opaque everywhere stays, whatever size was requested before")
    func opaqueAlpha() async throws {
        let fixture = try fixture { $0.side = 200 }
        let opaque = TestPicture(400, 300, bands: 4) { x, y in [UInt8(x / 2), UInt8(y / 2), 99, 255] }
        fixture.origin.route("/b.png", .body(try opaque.encoded(as: .png), fields: Self.fields))
        let parameters = "transform=resize:50x,pad:20&format=webp"
        let direct = try await fixture.get("/b.png", parameters)
        _ = try await fixture.pipeline.tiers.purge(
            key: fixture.request("/b.png", parameters).resultKey, in: .all)
        for width in [95, 90] {
            _ = try await fixture.get("/b.png", "transform=resize:\(width)x&format=webp")
        }

        let derived = try await fixture.get("/b.png", parameters)

        #expect(direct.description.kind == .result && derived.description.kind == .derived)
        for response in [direct, derived] {
            #expect(try TestPicture(decoding: response.bytes)[1, 1].last == 0)
        }
    }

    @Test(
        "Results from an intermediate resemble those made directly, and have their size and format",
        arguments: [
            "resize:300x", "resize:299x", "resize:x97", "resize:160x160:cover", "resize:120x50:fill",
            "resize:33x",
            "resize:300x,crop:150x100:gravity=northeast", "resize:250x,flip:h,rotate:90",
            "resize:200x,blur:1.5",
            "resize:200x,sepia,pad:10:color=fff", "resize:180x180:cover:gravity=focal:fx=0.2:fy=0.7",
        ])
    func likeness(transform: String) async throws {
        let fixture = try fixture()
        let parameters = "transform=\(transform)&format=jpeg&quality=95"
        let direct = try await rendered(Fixtures.photo, transform, as: .explicit(.jpeg)) { $0.quality = 95 }
        _ = try await kinds(fixture, ["resize:290x&format=webp"])

        let beside = try await fixture.get("/a.jpg", parameters)
        _ = try await fixture.pipeline.tiers.purge(
            key: fixture.request("/a.jpg", parameters).resultKey, in: .all)
        let derived = try await fixture.get("/a.jpg", parameters)

        for response in [beside, derived] {
            #expect(response.description.kind == .derived)
            #expect(response.description.format == .jpeg)
            let picture = try TestPicture(decoding: response.bytes)
            #expect(try #require(picture.likeness(to: direct.picture)) > 0.98)
        }
    }

    @Test(
        "Lossless results, and those that would show the intermediate, are made from the original",
        arguments: [
            "resize:200x&format=png", "resize:200x&format=webp&lossless=1",
            "resize:200x&format=jpeg&metadata=keep",
            "resize:301x&format=webp", "resize:x201&format=webp",
            "resize:200x100:cover:gravity=smart&format=webp",
            "crop:200x200&format=webp", "resize:200x,contrast:3&format=webp",
            "orient:6,resize:200x&format=webp",
            "resize:200x,sharpen:2&format=webp", "resize:200x,trim&format=webp", "resize:200x,mask:circle",
        ])
    func direct(transform: String) async throws {
        let fixture = try fixture()
        let before = ["resize:290x&format=webp", "resize:280x&format=webp"]
        #expect(try await kinds(fixture, before) == [.result, .derived])

        #expect(try await kinds(fixture, [transform]) == [.result])
    }

    @Test("Formats that are read only by setting are written from an intermediate, too, which stays")
    func optionalFormats() async throws {
        let fixture = try fixture()
        let photo = try TestPicture(decoding: Fixtures.photo).encoded(as: .jxl)
        fixture.origin.route("/a.jxl", .body(photo, fields: Self.fields))
        var formats = FormatsConfiguration()
        formats.decode.append(.jxl)
        formats.auto = [.jxl, .webp]

        for (path, format) in [("/a.jpg", "jxl"), ("/a.jpg", "auto"), ("/a.jxl", "source")] {
            var made: [String] = []
            for width in [300, 200, 150] {
                let request = try fixture.request(
                    path, "transform=resize:\(width)x&format=\(format)",
                    accept: "image/jxl, image/webp;q=0.9",
                    formats: formats)
                let response = try await fixture.pipeline.response(for: request)
                made.append("\(response.description.kind) \(response.description.format)")
                fixture.forgetMemory()
            }
            #expect(made.suffix(2) == ["derived jxl", "derived jxl"], "\(path) \(format)")
        }
        #expect(fixture.metrics.transforms.value(LabelPair(.none, .unsupported)) == 0)
        #expect(try await stored(fixture).contains(.intermediate))
    }

    @Test("Results are made directly if intermediates are off, or the original is too small for one")
    func off() async throws {
        let sizes = ["resize:200x&format=webp", "resize:150x&format=webp"]

        #expect(try await kinds(fixture { $0.enabled = false }, sizes) == [.result, .result])
        #expect(try await kinds(fixture { $0.minPixels = 960_001 }, sizes) == [.result, .result])
        #expect(try await kinds(fixture { $0.side = 1_200 }, sizes) == [.result, .result])
    }

    @Test("A changed original never uses the old one's intermediate")
    func changed() async throws {
        let fixture = try fixture()
        _ = try await kinds(fixture, ["resize:200x&format=webp", "resize:150x&format=webp"])
        fixture.origin.route("/a.jpg", .body(Fixtures.photo(number: 2), fields: Self.fields))

        let changed = try await fixture.get(
            "/a.jpg", "transform=resize:100x&format=webp", asking: "no-cache")

        #expect(changed.description.kind == .result)
        #expect(changed.description.sourceHash == ContentHash(of: Fixtures.photo(number: 2)))
    }

    @Test(
        "A purge of their source removes results and the intermediate; a purge by key or tag removes derived results"
    )
    func purges() async throws {
        let fixture = try fixture()
        let sizes = ["resize:200x&format=webp&tag=a", "resize:150x&format=webp&tag=b"]
        #expect(
            try await kinds(fixture, sizes + ["resize:100x&format=webp"]) == [.result, .derived, .derived])
        let tiers = fixture.pipeline.tiers

        let key = try fixture.request("/a.jpg", "transform=resize:100x&format=webp").resultKey
        #expect(try await tiers.purge(key: key, in: .all).disk == 1)
        #expect(try await tiers.purge(tag: "b", found: { _ in }).disk == 1)
        #expect(try await stored(fixture) == [.original, .result, .intermediate])
        let source = try fixture.request("/a.jpg").sourceKey
        #expect(try await tiers.purge(source: source, in: .all).disk == 3)
        #expect(try await stored(fixture).isEmpty)
    }

    @Test("Intermediates are found on disk again, and a damaged one is removed and not used")
    func damage() async throws {
        let fixture = try fixture()
        let sizes = ["resize:200x&format=webp", "resize:150x&format=webp"]
        _ = try await kinds(fixture, sizes)
        _ = try await fixture.pipeline.tiers.purgeAll(in: .memory)
        let again = try await fixture.get("/a.jpg", "transform=" + sizes[1])
        #expect(again.provenance == .disk && again.description.kind == .derived)
        let request = try fixture.request("/a.jpg")
        let key = IntermediateKey(
            source: request, hash: ContentHash(of: Fixtures.photo),
            rule: fixture.pipeline.configuration.intermediates.configuration)
        let disk = fixture.pipeline.tiers.disk
        let hit = try #require(try await disk.lookUp(key.key, kind: .intermediate, keyText: key.text))
        try await disk.store(hit.description, body: Array(Fixtures.photo.prefix(900)))

        #expect(try await kinds(fixture, ["resize:100x&format=webp"]) == [.derived])
        let third = try await fixture.get("/a.jpg", "transform=resize:90x&format=webp")
        #expect(third.description.kind == .derived && third.description.width == 90)
    }

    @Test(
        "An original is shrunk to fit in either orientation; small, animated and vector ones are not changed"
    )
    func sizes() {
        var configuration = IntermediateConfiguration()
        let rule = IntermediateRule(configuration: configuration)
        func size(_ width: Int, _ height: Int, _ format: ImageFormat = .jpeg, frames: Int = 1, turn: Int = 1)
            -> PixelSize?
        {
            rule.size(
                for: .init(
                    format: format, width: width, height: height, frames: frames, hasAlpha: false,
                    orientation: turn))
        }

        #expect(size(4_000, 3_000) == PixelSize(1_600, 1_200))
        #expect(size(4_000, 3_000, turn: 6) == PixelSize(1_200, 1_600))
        #expect(size(6_001, 4_000, .png) == PixelSize(1_600, 1_064))
        #expect(size(2_200, 2_200) == nil, "little is gained")
        #expect(size(1_600, 2_600) == PixelSize(984, 1_600) && size(1_600, 2_400) == nil)
        #expect(size(4_000, 3_000, .gif, frames: 2) == nil && size(4_000, 3_000, .svg) == nil)
        configuration.enabled = false
        let off = IntermediateRule(configuration: configuration)
        #expect(
            off.size(for: .init(format: .jpeg, width: 4_000, height: 3_000, frames: 1, hasAlpha: false))
                == nil)
    }

    @Test("Alpha and orientation are kept in an intermediate")
    func alphaAndOrientation() async throws {
        let fixture = try fixture()
        let clear = TestPicture(1_000, 800, bands: 4) { x, y in
            [UInt8(x / 4), UInt8(y / 4), 128, x < 500 ? 255 : UInt8(y / 4)]
        }
        try fixture.origin.route("/clear.png", .body(clear.encoded(as: .png), fields: Self.fields))
        let turned = try TestPicture.quarters(1_000, 800).encoded(as: .jpeg, orientation: 6)
        fixture.origin.route("/turned.jpg", .body(turned, fields: Self.fields))
        for path in ["/clear.png", "/turned.jpg"] {
            for size in [120, 110, 100] {
                let response = try await fixture.get(
                    path, "transform=resize:\(size)x&format=webp&quality=100")
                #expect((response.description.kind == .derived) == (size < 120), "\(path) \(size)")
            }
        }

        let third = try await fixture.get("/clear.png", "transform=resize:90x&format=webp&quality=100")
        let picture = try TestPicture(decoding: third.bytes)
        let direct = try await rendered(try clear.encoded(as: .png), "resize:90x", as: .explicit(.webp)) {
            $0.quality = 100
        }
        #expect(picture.bands == 4)
        #expect(try #require(picture.meanDistance(to: direct.picture)) < 2)
        let turnedThird = try await fixture.get("/turned.jpg", "transform=resize:90x&format=webp&quality=100")
        let upright = try TestPicture(decoding: turnedThird.bytes)
        let expected = try await rendered(turned, "resize:90x", as: .explicit(.webp)) { $0.quality = 100 }
        #expect(try #require(upright.meanDistance(to: expected.picture)) < 2)
        #expect(upright.height > upright.width)
    }

    @Test(
        "A stale source whose original is gone is confirmed, or replaced in an error, by way of its intermediate"
    )
    func staleWithoutOriginal() async throws {
        let fixture = try fixture()
        let confirmed = OriginAnswer.validated(Fixtures.photo, entityTag: "\"1\"", fields: Self.fields)
        fixture.origin.route("/a.jpg", confirmed)
        _ = try await kinds(fixture, ["resize:200x&format=webp", "resize:150x&format=webp"])
        let disk = fixture.pipeline.tiers.disk
        #expect(try await disk.remove(fixture.request("/a.jpg").sourceKey, kind: .original))
        fixture.forgetMemory()

        fixture.clock.advance(by: 700)
        let explained = await fixture.pipeline.explain(
            try fixture.request("/a.jpg", "transform=resize:100x&format=webp"))
        let made = try await fixture.get("/a.jpg", "transform=resize:100x&format=webp")
        #expect(made.description.kind == .derived && made.provenance == .revalidated(.stale))
        #expect(explained.stored.map(\.description.kind) == [.intermediate])

        fixture.origin.route("/a.jpg", .status(503))
        fixture.clock.advance(by: 700)
        let replaced = try await fixture.get("/a.jpg", "transform=resize:90x&format=webp")
        #expect(replaced.description.kind == .derived && replaced.provenance.isStale)
    }
}
