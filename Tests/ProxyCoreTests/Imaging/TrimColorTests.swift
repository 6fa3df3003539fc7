// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ImageTestSupport
@testable import ProxyCore

@Suite("Borders of a colour that the picture can't represent")
struct TrimColorTests {
    /// A dark square of 10 × 10 in the centre of a border.
    private static func picture(_ border: [UInt8]) -> TestPicture {
        TestPicture(20, 20, bands: border.count) { x, y in
            let isInside = (5..<15).contains(x) && (5..<15).contains(y)
            return isInside ? [UInt8](repeating: 60, count: border.count) : border
        }
    }

    @Test("A grey border matches a colour that is almost grey")
    func grey() async throws {
        let source = try Self.picture([250]).encoded(as: .png)

        #expect(try await rendered(source, "trim:20:color=fff8f0").picture.width == 10)
        #expect(try await rendered(source, "trim:9:color=fff8f0").picture.width == 20)
        #expect(try await rendered(source, "trim:20:color=f00").picture.width == 20)
    }

    @Test("An opaque border matches a colour that is almost opaque")
    func opaque() async throws {
        for border in [[255], [255, 255, 255]] as [[UInt8]] {
            let source = try Self.picture(border).encoded(as: .png)

            #expect(try await rendered(source, "trim:10:color=fffffffe").picture.width == 10)
            #expect(try await rendered(source, "trim:10:color=fff0").picture.width == 20)
        }
    }
}
