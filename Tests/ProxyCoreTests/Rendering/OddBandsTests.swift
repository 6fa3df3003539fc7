// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ImageTestSupport
@testable import ProxyCore

@Suite("Bands that are not colours")
struct OddBandsTests {
    /// 8 × 8 pixels of two components, one scan for each.
    private static let twoComponents =
        "ffd8ffdb0043000302020302020303030304030304050805050404050a070706080c0a0c0c0b0a0b0b0d0e12100d"
        + "0e110e0b0b1016101113141515150c0f171816141812141514ffc0000e080008000802011100021100ffc4001400"
        + "0100000000000000000000000000000007ffc40014100100000000000000000000000000000000ffda0008010100"
        + "003f001a7fffda0008010200003f001a7fffd9"

    private static let operations = [
        "", "sepia", "hue:10", "grayscale", "duotone:000:fff", "pad:1:color=f00",
        "round:2:border=1:color=0f0",
    ]

    @Test("A JPEG of two components is damaged, and does not crash the worker")
    func twoComponents() async throws {
        let digits = Array(Self.twoComponents)
        let file = try stride(from: 0, to: digits.count, by: 2).map {
            try #require(UInt8(String(digits[$0...$0 + 1]), radix: 16))
        }
        for text in Self.operations {
            await #expect("\(text)") {
                try await rendered(file, text)
            } throws: {
                if case .badImageData? = $0 as? RenderError { true } else { false }
            }
        }
        await #expect(throws: RenderError.self) {
            try await rendered(file) { $0 = RenderPlan(format: .information) }
        }
    }

    @Test("Masks and spot colours of a TIFF are removed", arguments: [3, 5, 6])
    func extraSamples(bands: Int) async throws {
        let colors: [UInt8] = bands == 3 ? [90, 255, 7] : [200, 100, 50, 255, 7, 9]
        let tiff = try TestPicture(24, 16, bands: bands) { _, _ in Array(colors.prefix(bands)) }
            .encoded(as: .tiff)
        for text in Self.operations {
            let result = try await rendered(tiff, text) { $0.decodableFormats.append(.tiff) }
            #expect(result.picture.bands <= 4)
            if text.isEmpty { #expect(result.picture[5, 5].prefix(3) == colors.prefix(3)) }
        }
    }
}
