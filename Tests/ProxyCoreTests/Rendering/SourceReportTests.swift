// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Rendering

@Suite("The report on a source")
struct SourceReportTests {
    private func report(
        _ source: [UInt8], _ change: (inout RenderPlan) -> Void = { _ in }
    ) async throws -> [String: Any] {
        var plan = RenderPlan(format: .information)
        change(&plan)
        let target = try RenderTarget()
        let rendition = try await InProcessRenderer().render(
            plan, from: .bytes(source), into: target.file, at: 0)
        let json = try JSONSerialization.jsonObject(with: Data(target.bytes(rendition)))
        return try #require(json as? [String: Any])
    }

    @Test("A photo as stored, and upright")
    func photo() async throws {
        let bytes = try TestPicture.ramps(40, 20).encoded(as: .jpeg, orientation: 6)

        let found = try await report(bytes)

        #expect(found["format"] as? String == "jpeg")
        #expect(found["mediaType"] as? String == "image/jpeg")
        #expect(found["bytes"] as? Int == bytes.count)
        #expect(found["width"] as? Int == 40 && found["height"] as? Int == 20)
        #expect(found["orientation"] as? Int == 6)
        #expect(found["uprightWidth"] as? Int == 20 && found["uprightHeight"] as? Int == 40)
        #expect(found["frames"] as? Int == 1 && found["delays"] as? [Int] == [])
        #expect(found["alpha"] as? Bool == false)
        #expect(found["colorSpace"] as? String == "srgb" && found["bitsPerSample"] as? Int == 8)
        #expect(found["profile"] as? Bool == false)
        #expect((found["blurHash"] as? String)?.count == 28)
        #expect((found["thumbHash"] as? String)?.isEmpty == false)
    }

    @Test("An animation with its delays", arguments: [ImageFormat.gif, .webp])
    func animation(format: ImageFormat) async throws {
        let frames = [[255, 0, 0], [0, 255, 0]].map { TestPicture.plain(8, 8, $0.map(UInt8.init)) }
        let bytes = try TestPicture.animation(frames, delays: [70, 130], loop: 3, as: format)

        let found = try await report(bytes)

        #expect(found["frames"] as? Int == 2)
        #expect(found["delays"] as? [Int] == [70, 130])
        #expect(found["loopCount"] as? Int == 3)
        #expect((found["dominantColor"] as? String)?.hasPrefix("#f") == true)
    }

    @Test("A small picture's hashes are those of its own pixels, also of transparent ones")
    func hashes() async throws {
        let picture = TestPicture(30, 20, bands: 4) { x, y in
            [UInt8(x * 8), UInt8(y * 12), 100, y < 10 ? 255 : UInt8(x * 5)]
        }

        let found = try await report(picture.encoded(as: .png))

        let small = SmallPicture(width: 30, height: 20, samples: picture.samples)
        #expect(found["alpha"] as? Bool == true)
        #expect(found["blurHash"] as? String == BlurHash.text(of: small))
        let hash = Data(ThumbHash.bytes(of: small)).base64EncodedString()
        #expect(found["thumbHash"] as? String == hash)
    }

    @Test("Limits apply to reports, too")
    func limits() async throws {
        let bytes = try TestPicture.ramps(40, 20).encoded(as: .png)

        await #expect(throws: RenderError.tooManyPixels("")) {
            _ = try await report(bytes) { $0.limits.sourcePixels = 799 }
        }
    }
}
