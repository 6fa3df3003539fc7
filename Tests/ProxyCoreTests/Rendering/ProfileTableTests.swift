// SPDX-License-Identifier: Apache-2.0

import CVips
import Testing

@testable import ImageTestSupport
@testable import Imaging

@Suite("Colour profiles with tables")
struct ProfileTableTests {
    /// The lightness of each of the eight corners of RGB, black to white, blue varying fastest: here equal to
    /// the red value.
    private static let redness = [0, 0, 0, 0, 0xFF00, 0xFF00, 0xFF00, 0xFF00]

    private func big(_ value: Int, _ count: Int = 4) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    /// A table of 16 bits from RGB to Lab (ICC.1:2010 §10.10) that gives greys of these lightnesses between
    /// the corners.
    private func table(_ lightness: [Int]) -> [UInt8] {
        let identity = [1, 0, 0, 0, 1, 0, 0, 0, 1].flatMap { big($0 << 16) }
        let line = big(0, 2) + big(0xFFFF, 2)
        let corners = lightness.flatMap { big($0, 2) + big(0x8000, 2) + big(0x8000, 2) }
        return Array("mft2".utf8) + big(0) + [3, 3, 2, 0] + identity + big(2, 2) + big(2, 2) + line + line
            + line
            + corners + line + line + line
    }

    /// A profile of RGB whose tags all have the same data.
    private func profile(_ names: [String], version: UInt8, _ data: [UInt8]) -> [UInt8] {
        var head = [UInt8](repeating: 0, count: 128)
        func put(_ bytes: [UInt8], _ place: Int) {
            head.replaceSubrange(place..<place + bytes.count, with: bytes)
        }
        let start = 128 + 4 + names.count * 12
        put(big(start + data.count), 0)
        put([version, 0x10], 8)
        put(Array("scnrRGB Lab ".utf8), 12)
        put(Array("acsp".utf8), 36)
        // The white point D50.
        put(big(0xF6D6) + big(0x10000) + big(0xD32D), 68)
        return head + big(names.count)
            + names.flatMap { Array($0.utf8) + big(start) + big(data.count) } + data
    }

    private func picture(_ profile: [UInt8], _ format: ImageFormat) throws -> [UInt8] {
        let image = try TestPicture(96, 32) { x, _ in
            x < 32 ? [255, 0, 0] : x < 64 ? [128, 255, 0] : [0, 0, 255]
        }.image()
        image.set("icc-profile-data", to: profile)
        return try TestPicture.bytes(of: image, as: format)
    }

    @Test(
        "A profile with a table for one intent is applied with that table",
        arguments: ["A2B0", "A2B1", "A2B2"], [2, 4] as [UInt8])
    func onlyTable(name: String, version: UInt8) async throws {
        let profile = profile([name], version: version, table(Self.redness))
        for format in [ImageFormat.png, .jpeg] {
            for text in ["", "resize:48x", "flip:h,flip:h"] {
                let found = try await rendered(picture(profile, format), text).picture

                // Half the lightness of white is 119 in sRGB.
                for (place, level) in [(1, 255), (3, 119), (5, 0)] {
                    let color = found[found.width * place / 6, found.height / 2]
                    #expect(
                        color.allSatisfy { abs(Int($0) - level) <= 3 }, "\(name) \(format) \(text): \(color)")
                }
            }
        }
    }

    @Test("Chains of elements are not applied, however many the profile has, and the table is")
    func chains() async throws {
        let chain =
            Array("matf".utf8) + big(0) + big(3, 2) + big(3, 2)
            + [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0].flatMap { big(Int(Float($0).bitPattern)) }
        let count = 4_000
        let head = Array("mpet".utf8) + big(0) + big(3, 2) + big(3, 2) + big(count)
        let elements =
            head + (0..<count).flatMap { _ in big(head.count + 8 * count) + big(chain.count) } + chain
        let table = table(Self.redness)
        // The table follows the elements.
        var whole = profile(["A2B0", "D2B0", "D2B1"], version: 4, elements + table)
        let start = whole.count - table.count
        whole.replaceSubrange(136..<144, with: big(start) + big(table.count))

        #expect(whole.withUnsafeBytes { ColorProfile($0).placesOfChains } == [144, 156])
        let double = profile(["D2B0", "A2B0", "D2B0"], version: 4, table)
        #expect(double.withUnsafeBytes { ColorProfile($0).placesOfChains } == [132, 156])
        let found = try await rendered(picture(whole, .png)).picture
        #expect(found[16, 16].prefix(3).allSatisfy { $0 >= 252 }, "\(found[16, 16])")
    }

    @Test("An existing table for relative colours is used, and no other is renamed")
    func relativeTable() {
        let data = table(Self.redness)
        let both = profile(["A2B0", "A2B1"], version: 2, data)
        let lone = profile(["desc", "A2B0", "A2B2"], version: 2, data)
        let shaper = profile(["A2B0", "rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"], version: 2, data)

        #expect(both.withUnsafeBytes { ColorProfile($0).placeOfOnlyTable } == nil)
        #expect(shaper.withUnsafeBytes { ColorProfile($0).placeOfOnlyTable } == nil)
        #expect(lone.withUnsafeBytes { ColorProfile($0).placeOfOnlyTable } == 128 + 4 + 12)
        for length in 0..<lone.count - data.count {
            // Truncated within the name that would be replaced, or before it.
            let found = lone[..<length].withUnsafeBytes { ColorProfile($0).placeOfOnlyTable }
            #expect(found.map { $0 + 4 <= length } ?? true, "\(length)")
        }
    }
}
