// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Primitives
@testable import Rendering

@Suite("Watermarks and text")
struct OverlayTests {
    private static let base = TestPicture.plain(100, 60, [40, 80, 120])
    /// 20 × 10: red on the left, half transparent green on the right.
    private static let mark = TestPicture(20, 10, bands: 4) { x, _ in
        x < 10 ? [255, 0, 0, 255] : [0, 255, 0, 128]
    }

    private func marked(
        _ text: String, base: TestPicture = base, mark: TestPicture = mark,
        as format: RenderPlan.FormatChoice = .explicit(.png)
    ) async throws -> (rendition: Rendition, picture: TestPicture, bytes: [UInt8]) {
        let bytes = try mark.encoded(as: .png)
        return try await rendered(base.encoded(as: .png), text, as: format) {
            $0.watermarks = [WatermarkImage(name: "logo", bytes: bytes)]
        }
    }

    private func isNear(_ pixel: [UInt8], _ wanted: [UInt8]) -> Bool {
        pixel.count == wanted.count && zip(pixel, wanted).allSatisfy { abs(Int($0) - Int($1)) <= 2 }
    }

    @Test(
        "A watermark whose place is wholly outside is not seen, repeated or not",
        arguments: ["", ":tile=spread", ":tile=spreadx", ":tile=spready"])
    func outside(tile: String) async throws {
        let small = TestPicture.plain(12, 6, [9, 99, 200])
        let made = try await marked("watermark:logo:southeast:16:16\(tile)", base: small)
        #expect(made.picture[0, 0] == [9, 99, 200] && made.picture[11, 5] == [9, 99, 200])
    }

    @Test(
        "A watermark that is much larger than the picture takes no more memory than the picture",
        arguments: ["", ":tile=1", ":tile=1:gapx=90000:gapy=90000", ":tile=spread"])
    func huge(tile: String) async throws {
        let mark = try Self.mark.encoded(as: .png)
        let source = StoredBody.bytes(try TestPicture.plain(1_500, 1_500, [40, 80, 120]).encoded(as: .png))
        var plan = RenderPlan(
            pipeline: try TransformPipeline(parsing: "watermark:logo:northwest:scale=10\(tile)"),
            format: .explicit(.png))
        plan.watermarks = [WatermarkImage(name: "logo", bytes: mark)]
        // The mark would take 450 MB, beside the libraries of a worker.
        try await WorkerPool.running({ $0.memoryPerWorker = .mebibytes(300) }) { [plan] pool in
            let target = try RenderTarget()
            let made = try await pool.render(plan, from: source, into: target.file, at: 0)
            #expect(made.width == 1_500 && pool.statistics.restarts.isEmpty)
            let picture = try TestPicture(decoding: target.bytes(made))
            #expect(isNear(picture[5, 5], tile.contains("gap") ? [40, 80, 120] : [255, 0, 0]))
        }
    }

    @Test("A watermark of which no side can be expressed is an error of the request")
    func endless() async throws {
        let thin = TestPicture.plain(1, 2_000, [255, 0, 0])
        let error = await #expect(throws: RenderError.self) {
            try await marked(
                "watermark:logo:width=10", base: TestPicture.plain(600, 60, [40, 80, 120]), mark: thin)
        }
        guard case .resultTooLarge(let why) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect("\(why)".contains("the watermark logo would be 6000x12000000"))
    }

    @Test("A watermark is drawn in its corner, moved inwards, and blended by its alpha")
    func corners() async throws {
        let plain = try await marked("watermark:logo").picture
        let moved = try await marked("watermark:logo:northwest:5:7").picture
        let inner = try await marked("watermark:logo:southeast:5:7").picture

        #expect(plain.bands == 3)
        #expect(isNear(plain[80, 50], [255, 0, 0]) && isNear(plain[79, 50], [40, 80, 120]))
        #expect(isNear(plain[95, 55], [20, 168, 60]))
        #expect(isNear(moved[5, 7], [255, 0, 0]) && isNear(moved[4, 7], [40, 80, 120]))
        #expect(isNear(inner[75, 43], [255, 0, 0]) && isNear(inner[75, 53], [40, 80, 120]))
    }

    @Test("scale is a fraction of the picture, opacity multiplies alpha")
    func scaleAndOpacity() async throws {
        let found = try await marked("watermark:logo:northwest:scale=0.5:opacity=0.5").picture

        #expect(isNear(found[10, 10], [148, 40, 60]) && isNear(found[40, 10], [30, 124, 90]))
        #expect(isNear(found[51, 10], [40, 80, 120]) && isNear(found[10, 26], [40, 80, 120]))
    }

    @Test("tile repeats it over the picture, from its single position")
    func tile() async throws {
        let found = try await marked("watermark:logo:northwest:5:5:tile=1").picture

        for (x, y) in [(5, 5), (25, 15), (85, 45), (14, 55)] { #expect(isNear(found[x, y], [255, 0, 0])) }
        #expect(isNear(found[0, 0], [20, 168, 60]) && isNear(found[99, 59], [20, 168, 60]))
    }

    @Test("The part of a watermark outside the picture is cut")
    func cut() async throws {
        let large = TestPicture.plain(300, 200, [9, 9, 9, 255])

        #expect(isNear(try await marked("watermark:logo:center", mark: large).picture[50, 30], [9, 9, 9]))
        let beside = try await marked("watermark:logo:northwest:200:0").picture
        #expect(beside == Self.base)
    }

    @Test("A watermark is also drawn on transparent and grey pictures and on an animation's frames")
    func others() async throws {
        let clear = TestPicture.plain(40, 40, [0, 0, 0, 0])
        let found = try await marked("watermark:logo:northwest", base: clear).picture
        let grey = try await marked("watermark:logo:northwest", base: .plain(40, 40, [77])).picture

        #expect(isNear(found[2, 2], [255, 0, 0, 255]) && isNear(found[15, 2], [0, 255, 0, 128]))
        #expect(found[30, 30][3] == 0)
        #expect(isNear(grey[2, 2], [255, 0, 0]) && isNear(grey[30, 30], [77, 77, 77]))

        let frames = [[9, 9, 9], [90, 90, 90]].map { TestPicture.plain(40, 20, $0.map(UInt8.init)) }
        let bytes = try TestPicture.animation(frames, delays: [50, 50], loop: 0, as: .webp)
        let mark = try Self.mark.encoded(as: .png)
        let moving = try await rendered(bytes, "watermark:logo:northwest", as: .explicit(.webp)) {
            $0.watermarks = [WatermarkImage(name: "logo", bytes: mark)]
            $0.isLossless = true
        }
        #expect(moving.rendition.frames == 2)
        #expect(isNear(Array(moving.picture[2, 22].prefix(3)), [255, 0, 0]))
    }

    @Test("A damaged watermark is an error of its own, and none of the picture")
    func damaged() async throws {
        let (base, mark) = (try Self.base.encoded(as: .png), try Self.mark.encoded(as: .png))
        for bytes in [Array(mark.prefix(mark.count / 2)), Array("RIFF....WEBPjunk".utf8), Array("no".utf8)] {
            let error = await #expect(throws: RenderError.self) {
                try await rendered(base, "watermark:logo") {
                    $0.watermarks = [WatermarkImage(name: "logo", bytes: bytes)]
                }
            }
            guard case .watermarkUnreadable = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test("A watermark is drawn upright, by its orientation")
    func turned() async throws {
        let mark = try Self.mark.encoded(as: .jpeg, orientation: 6)
        let found = try await rendered(Self.base.encoded(as: .png), "watermark:logo:northwest") {
            $0.watermarks = [WatermarkImage(name: "logo", bytes: mark)]
        }.picture

        // Now 10 × 20.
        #expect(isNear(found[15, 5], [40, 80, 120]))
        #expect(!isNear(found[5, 15], [40, 80, 120]))
    }

    @Test("A worker gets a watermark's bytes as a descriptor")
    func inWorker() async throws {
        var configuration = TransformConfiguration()
        configuration.workers = 1
        let pool = WorkerPool(configuration: configuration, executable: DaemonProcess.executable)
        try await pool.start()
        var plan = RenderPlan(
            pipeline: try TransformPipeline(parsing: "watermark:logo,watermark:other:northwest"),
            format: .explicit(.png))
        plan.watermarks = [
            WatermarkImage(name: "logo", bytes: try Self.mark.encoded(as: .png)),
            WatermarkImage(name: "other", bytes: try TestPicture.plain(4, 4, [0, 0, 9]).encoded(as: .png)),
        ]
        let target = try RenderTarget()

        let rendition = try await pool.render(
            plan, from: .bytes(Self.base.encoded(as: .png)), into: target.file, at: 0)

        let picture = try TestPicture(decoding: target.bytes(rendition))
        #expect(isNear(picture[80, 50], [255, 0, 0]) && isNear(picture[1, 1], [0, 0, 9]))
        await pool.stop()
    }

    @Test("Text is drawn in its colour at its position")
    func text() async throws {
        let bytes = try TestPicture.plain(200, 100, [255, 255, 255]).encoded(as: .png)

        let found = try await rendered(bytes, "text:IIIIII:40:DejaVu_Sans:f00:southeast:10:10").picture

        let red = (0..<100).flatMap { y in (0..<200).map { (x: $0, y: y) } }
            .filter { isNear(found[$0.x, $0.y], [255, 0, 0]) }
        #expect(found.bands == 3 && red.count > 300)
        // Includes the last letter's side bearing.
        #expect((185...189).contains(red.map(\.x).max() ?? 0) && red.map(\.y).max() == 89)
        #expect((25...32).contains(90 - (red.map(\.y).min() ?? 0)), "capitals are 0.73 em high")
    }

    @Test("Long text is broken into lines, and markup is drawn literally")
    func lines() async throws {
        let bytes = try TestPicture.plain(120, 200, [255, 255, 255]).encoded(as: .png)
        let content = Base64.encodeURL("<b>a & b</b>\nÄ".utf8)

        let short = try await rendered(bytes, "text:word:20").picture
        let long = try await rendered(bytes, "text:word_word_word_word_word_word:20").picture
        let marked = try await rendered(bytes, "text:text64=\(content):size=20").picture

        func height(_ picture: TestPicture) -> Int {
            let rows = (0..<200).filter { y in (0..<120).contains { picture[$0, y][0] < 128 } }
            return (rows.max() ?? 0) - (rows.min() ?? 0) + 1
        }
        #expect(height(long) > 2 * height(short))
        #expect(height(marked) > height(short))
    }

    @Test("Text too large to draw is refused before drawing, and invisible text is an error")
    func bounds() async throws {
        let bytes = try TestPicture.plain(20, 20, [255, 255, 255]).encoded(as: .png)

        await #expect(throws: RenderError.resultTooLarge("")) {
            try await rendered(bytes, "text:" + String(repeating: "m", count: 500) + ":2000")
        }
        await #expect(throws: RenderError.emptyResult("")) {
            try await rendered(bytes, "text:text64=" + Base64.encodeURL("\u{200B}".utf8))
        }
    }
}
