// SPDX-License-Identifier: Apache-2.0

import CVips
import Glibc
import TestSupport
import Testing

@testable import ImageTestSupport
@testable import Imaging

@Suite("JPEGs at an eighth of their size")
struct JPEGEighthTests {
    /// A reader of a JPEG at an eighth; nil if it does not read this one.
    private typealias Reader =
        @Sendable (UnsafeMutablePointer<CVips.VipsSource>) -> UnsafeMutablePointer<CVips.VipsImage>?

    private static let plain: Reader = { shim_load_jpeg_plain($0, 8) }

    private static let own: Reader = { source in
        guard let head = shim_load_jpeg_plain(source, 8) else { return nil }
        defer { g_object_unref(head) }
        return shim_jpeg_eighth(source, head)
    }

    /// The samples of all pixels, and the width; nil if they can't be read.
    private func pixels(of file: [UInt8], by read: Reader) throws -> [UInt8]? {
        let source = try openedSource(file)
        guard let image = read(source.raw) else { return nil }
        defer { g_object_unref(image) }
        var count = 0
        guard let memory = vips_image_write_to_memory(image, &count) else { return nil }
        defer { g_free(memory) }
        let width = vips_image_get_width(image)
        return [UInt8(width & 255), UInt8(width >> 8)]
            + Array(UnsafeRawBufferPointer(start: memory, count: count))
    }

    /// Noise in colours, or in grey.
    private func noise(_ width: Int, _ height: Int, bands: Int, quality: Int, isProgressive: Bool = false)
        throws -> [UInt8]
    {
        var random = SplitMix(seed: UInt64(width * height + quality))
        let picture = TestPicture(width, height, bands: bands) { _, _ in
            let bits = random.next()
            return (0..<bands).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
        }
        let settings = EncodeSettings(
            format: .jpeg, quality: quality, isLossless: false, isProgressive: isProgressive, metadata: .none)
        return try VipsCoder.encode(picture.image(), settings).withBytes { Array($0) }
    }

    /// Markers between codes, and several relations between the components' sizes.
    private static let files = ["restarts", "restart-rows", "quarter-chroma", "rgb"]

    @Test("The pixels are those of libvips' own reader", arguments: files)
    func kinds(name: String) throws {
        try VipsLibrary.start()
        let file = Fixtures.read("images/\(name).jpg")

        let found = try pixels(of: file, by: Self.own)

        #expect(try found != nil && found == pixels(of: file, by: Self.plain))
    }

    @Test("Noise of any size and quality has the pixels of libvips' own reader", arguments: [1, 3])
    func sizes(bands: Int) throws {
        try VipsLibrary.start()
        for (width, height) in [(8, 8), (9, 17), (16, 15), (130, 75), (517, 40)] {
            for quality in [1, 30, 85, 95, 100] {
                let file = try noise(width, height, bands: bands, quality: quality)

                let found = try pixels(of: file, by: Self.own)

                #expect(
                    try found != nil && found == pixels(of: file, by: Self.plain),
                    "\(width) × \(height), quality \(quality)")
            }
        }
    }

    @Test("A damaged file gives the pixels, or fails, as with libvips' own reader", arguments: files)
    func damaged(name: String) throws {
        try VipsLibrary.start()
        let whole = Fixtures.read("images/\(name).jpg")
        var random = SplitMix(seed: Corpus.seed)
        for _ in 0..<Corpus.count(200) {
            var file = whole
            for _ in 0...Int(random.next() % 4) {
                let place = 20 + Int(random.next() % UInt64(file.count - 22))
                file[place] =
                    [0, 0xFF, 0xD0, 0xD9, UInt8(truncatingIfNeeded: random.next())][Int(random.next() % 5)]
            }
            let expected = try pixels(of: file, by: Self.plain)
            let found = try pixels(of: file, by: Self.own)

            // libvips reads the codes of kinds that are not baseline.
            let isRead = try eighth(of: file)
            #expect(!isRead || found == expected, "seed \(Corpus.seed)")
        }
    }

    /// Whether the header is one of a file that is not left to libvips.
    private func eighth(of file: [UInt8]) throws -> Bool {
        let source = try openedSource(file)
        guard let image = Self.own(source.raw) else { return false }
        g_object_unref(image)
        return true
    }

    @Test("A truncated file fails as with libvips' own reader, unless all codes are there", arguments: files)
    func truncated(name: String) throws {
        try VipsLibrary.start()
        let whole = Fixtures.read("images/\(name).jpg")
        let picture = try pixels(of: whole, by: Self.plain)
        var failures = 0
        for missing in stride(from: 1, to: whole.count / 2, by: 3) {
            let file = Array(whole.dropLast(missing))
            let expected = try pixels(of: file, by: Self.plain)

            let found = try pixels(of: file, by: Self.own)

            // libjpeg reads up to eight bytes ahead, and fails if there are fewer.
            #expect(found == expected || expected == nil && found == picture, "\(missing) bytes")
            failures += found == nil ? 1 : 0
        }
        #expect(failures > 0)
    }

    @Test("Several scans, arithmetic codes and progressive files are left to libvips")
    func others() throws {
        try VipsLibrary.start()
        let others = try [
            Fixtures.read("images/three-scans.jpg"), Fixtures.read("images/arithmetic.jpg"),
            noise(40, 30, bands: 3, quality: 80, isProgressive: true),
        ]
        for file in others {
            #expect(try !eighth(of: file))
            #expect(try pixels(of: file, by: Self.plain) != nil)
        }
    }
}
