// SPDX-License-Identifier: Apache-2.0

import CVips
import Glibc
import Testing

@testable import Imaging

@Suite("Reduction in vectors")
struct ReductionTests {
    /// Samples of noise, half of them extreme; the same for the same seed.
    private func noise(_ count: Int, seed: UInt64) -> [UInt8] {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let bits = state >> 33
            return bits & 1 == 0 ? UInt8(truncatingIfNeeded: bits >> 8) : bits & 2 == 0 ? 0 : 255
        }
    }

    /// All samples of an image, which is released.
    private func samples(_ image: UnsafeMutablePointer<CVips.VipsImage>?) throws -> [UInt8] {
        let image = try #require(image)
        defer { g_object_unref(image) }
        var count = 0
        let memory = try #require(vips_image_write_to_memory(image, &count))
        defer { g_free(memory) }
        return Array(UnsafeRawBufferPointer(start: memory, count: count))
    }

    /// Widths before and after: borders between blocks, between odd and even numbers of weights, down to a single column.
    private static let widths = [
        (1, 1), (2, 1), (9, 8), (349, 192), (734, 384), (401, 369), (661, 192), (1040, 800), (520, 400),
        (400, 399),
        (900, 1), (800, 13), (799, 200), (800, 200), (801, 200), (257, 100),
    ]

    @Test("A reduced picture has the samples of libvips' own reduction", arguments: 1...4)
    func matches(bands: Int) throws {
        try VipsLibrary.start()
        for (index, (before, after)) in Self.widths.enumerated() {
            for height in [1, 37] {
                let bytes = noise(before * height * bands, seed: UInt64(index * 8 + bands))
                let image = try #require(
                    shim_image_copying(bytes, bytes.count, CInt(before), CInt(height), CInt(bands)))
                defer { g_object_unref(image) }
                let (across, down) = (Double(after) / Double(before), height > 1 ? 0.7 : 1)

                let ours = try samples(shim_resize(image, across, down))

                #expect(try ours == samples(shim_resize_any(image, across, down)), "\(before) to \(after)")
            }
        }
    }

    @Test("A part of a reduced picture has the samples that the whole has there")
    func part() throws {
        try VipsLibrary.start()
        let bytes = noise(1000 * 20 * 3, seed: 5)
        let image = try #require(shim_image_copying(bytes, bytes.count, 1000, 20, 3))
        defer { g_object_unref(image) }
        let small = try #require(shim_resize(image, 0.64, 1))
        defer { g_object_unref(small) }
        let whole = try samples(shim_copy(small))

        let cut = try samples(shim_crop(small, 320, 4, 320, 10))

        let line = 640 * 3
        for row in 0..<10 {
            let there = whole[(row + 4) * line..<(row + 5) * line].suffix(line / 2)
            let here = cut[row * line / 2..<(row + 1) * line / 2]
            #expect(Array(here) == Array(there), "row \(row)")
        }
    }
}
