// SPDX-License-Identifier: Apache-2.0

import CTestVips
import CVips
import Testing

@testable import ImageTestSupport
@testable import Imaging

@Suite("Colours of sources")
struct ColorTests {
    /// No ink is 0.
    private func inks(_ color: [UInt8]) throws -> Imaging.VipsImage {
        let image = try TestPicture.plain(32, 32, color).image()
        return try image.derived(shim_reinterpret(image.raw, VIPS_INTERPRETATION_CMYK))
    }

    @Test(
        "CMYK without a profile is the light that its inks transmit: (1 - C)(1 - K)",
        arguments: [
            [0, 0, 0, 0], [255, 255, 255, 255], [0, 0, 0, 255], [255, 0, 0, 0], [0, 255, 255, 0],
            [200, 30, 90, 60], [10, 20, 30, 128],
        ] as [[UInt8]])
    func inks(color: [UInt8]) async throws {
        let wanted = color.prefix(3).map { (255 - Int($0)) * (255 - Int(color[3])) / 255 }
        for format in [ImageFormat.jpeg, .tiff] {
            let bytes = try TestPicture.bytes(of: inks(color), as: format)
            for text in ["", "resize:20x", "flip:h"] {
                let picture = try await rendered(bytes, text) { $0.decodableFormats.append(.tiff) }.picture

                #expect(picture.bands == 3)
                #expect(zip(picture[9, 9], wanted).allSatisfy { abs(Int($0) - $1) <= 2 }, "\(format) \(text)")
            }
        }
    }

    @Test("CMYK with a profile is converted by it")
    func printedInks() async throws {
        let image = try TestPicture.plain(32, 32, [180, 190, 170]).image()
        let printed = try image.derived(test_icc_from_srgb(image.raw, "cmyk"))

        let picture = try await rendered(TestPicture.bytes(of: printed, as: .jpeg)).picture

        // The conversion to the profile does not move black, the conversion from it does.
        #expect(
            zip(picture[9, 9], [180, 190, 170]).allSatisfy { abs(Int($0) - $1) <= 10 }, "\(picture[9, 9])")
    }

    @Test("A profile that only has sRGB's name is applied")
    func misnamed() async throws {
        let image = try TestPicture.plain(16, 16, [0, 200, 0]).image()
        let wide = try image.derived(test_icc_from_srgb(image.raw, "p3")).duplicate()
        let stored = wide.blob("icc-profile-data")
        var profile = try #require(stored)
        profile.replaceSubrange(48..<56, with: Array("IEC sRGB".utf8))
        wide.set("icc-profile-data", to: profile)

        let picture = try await rendered(TestPicture.bytes(of: wide, as: .png)).picture

        #expect(zip(picture[8, 8], [0, 200, 0]).allSatisfy { abs(Int($0) - $1) <= 3 })
    }

    @Test(
        "The usual sRGB profile is recognized by name, primaries and curves (IEC 61966-2.1), if complete")
    func usual() {
        let profile = Self.usualProfile
        #expect(profile.withUnsafeBytes { ColorProfile($0).isUsualSRGB })
        for (place, byte) in [(48, 0), (Self.primaryPlace + 9, 9), (Self.curvePlace + 12 + 510, 90)] {
            var other = profile
            other[place] = UInt8(byte)
            #expect(!other.withUnsafeBytes { ColorProfile($0).isUsualSRGB }, "\(place)")
        }
        for length in 0..<profile.count - 600 {
            #expect(!profile[..<length].withUnsafeBytes { ColorProfile($0).isUsualSRGB })
        }
    }

    private static let primaryPlace = 128 + 4 + 6 * 12
    private static let curvePlace = primaryPlace + 3 * 20

    /// The form in most pictures with a profile, without the parts that are not relevant here.
    private static let usualProfile: [UInt8] = {
        func big(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        var bytes = [UInt8](repeating: 0, count: 128)
        bytes.replaceSubrange(16..<20, with: Array("RGB ".utf8))
        bytes.replaceSubrange(48..<56, with: Array("IEC sRGB".utf8))
        let primaries = [[28_578, 14_581, 912], [25_241, 46_981, 6_362], [9_376, 3_972, 46_799]]
        bytes += big(6)
        for (index, name) in ["rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"].enumerated() {
            bytes += Array(name.utf8) + big(index < 3 ? primaryPlace + index * 20 : curvePlace)
            bytes += big(index < 3 ? 20 : 12 + 512)
        }
        for primary in primaries { bytes += Array("XYZ ".utf8) + big(0) + primary.flatMap(big) }
        bytes += Array("curv".utf8) + big(0) + big(512)
        for step in 0..<512 {
            let light = Int(ToneCurve.linear(Double(step) / 511) * 65_535)
            bytes += [UInt8(light >> 8), UInt8(light & 255)]
        }
        return bytes
    }()
}
