// SPDX-License-Identifier: Apache-2.0

import CVips
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Rendering

@Suite("Metadata of results")
struct MetadataTests {
    private static let latitude = "exif-ifd3-GPSLatitude"
    private static let xmp =
        "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
        + "<rdf:Description xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:rights><rdf:Alt>"
        + "<rdf:li xml:lang='x-default'>© Grace &amp; Co</rdf:li></rdf:Alt></dc:rights></rdf:Description>"
        + "</rdf:RDF></x:xmpmeta>"

    /// A JPEG with a position and an artist, rotated by 90°.
    private static func source(exif: Bool = true, xmp: Bool = false) throws -> [UInt8] {
        let image = try TestPicture.ramps(40, 20).image().duplicate()
        image.set("orientation", to: 6)
        if exif {
            image.set("exif-ifd0-Copyright", to: "Ada (Lovelace) (ASCII)")
            image.set("exif-ifd0-Artist", to: "Byron (ASCII)")
            image.set("exif-ifd0-Software", to: "Engine (ASCII)")
            image.set(latitude, to: "51/1 30/1 0/1 (Rational)")
        }
        if xmp {
            let bytes = Array(Self.xmp.utf8)
            vips_image_set_blob_copy(image.raw, "xmp-data", bytes, bytes.count)
        }
        return try TestPicture.bytes(of: image, as: .jpeg)
    }

    private func fields(_ bytes: [UInt8]) throws -> (ownership: Ownership, hasLocation: Bool, image: Int) {
        let source = try openedSource(bytes)
        let format = try #require(ImageFormat(sniffing: bytes))
        let image = try VipsCoder.open(source, as: format, frames: .primary, shrink: .none)
        return (
            image.ownership, shim_has_field(image.raw, Self.latitude) != 0, image.orientation
        )
    }

    /// The EXIF chunk of a PNG.
    private func exif(inPNG bytes: [UInt8]) -> ExifBlock? {
        guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: "eXIf".utf8) }) else {
            return nil
        }
        let length = bytes[start - 4..<start].reduce(0) { $0 << 8 | Int($1) }
        return ExifBlock(Array(bytes[start + 4..<start + 4 + length]))
    }

    @Test("Texts that are no UTF-8 are read as Latin-1, and a copyright has its photographer and its editor")
    func texts() throws {
        for (written, read) in [
            (Array("© 2020 Müller".utf8), "© 2020 Müller"),
            ([0xA9, 0x20] + Array("2020 M".utf8) + [0xFC] + Array("ller".utf8), "© 2020 Müller"),
            (Array("PHOTOG\0EDITOR\0".utf8), "PHOTOG, EDITOR"), (Array(" \0EDITOR\0".utf8), "EDITOR"),
        ] {
            // A directory of one entry, with its text behind it.
            let count = UInt8(written.count)
            let block: [UInt8] =
                [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 1, 0, 0x98, 0x82, 2, 0, count, 0, 0, 0, 26, 0, 0, 0]
                + [0, 0, 0, 0] + written
            #expect(ExifBlock(block)?.text(.copyright) == read)
        }
    }

    @Test("strip keeps artist and copyright, and nothing else", arguments: [ImageFormat.jpeg, .webp, .avif])
    func strip(format: ImageFormat) async throws {
        let found = try await fields(rendered(Self.source(), as: .explicit(format)).bytes)

        #expect(found.ownership.copyright == "Ada (Lovelace)" && found.ownership.artist == "Byron")
        #expect(!found.hasLocation && found.image == 1)
        let bytes = try await rendered(Self.source(), as: .explicit(format)).bytes
        #expect(!bytes.indices.contains { bytes[$0...].starts(with: "Engine".utf8) })
    }

    @Test("PNG and GIF keep them, too, in their own forms")
    func chunks() async throws {
        let png = try await rendered(Self.source(), as: .explicit(.png)).bytes
        let gif = try await rendered(Self.source(), as: .explicit(.gif)).bytes

        let block = try #require(exif(inPNG: png))
        #expect(block.text(.copyright) == "Ada (Lovelace)" && block.text(.artist) == "Byron")
        let comment = Array("Author: Byron; Copyright: Ada (Lovelace)".utf8)
        #expect(gif.indices.contains { gif[$0...].starts(with: comment) })
        #expect(try TestPicture(decoding: gif).width == 20)
    }

    @Test(
        "TIFF has its own tags for them, which are read and written",
        arguments: [RenderPlan.MetadataPolicy.strip, .keep])
    func tiff(metadata: RenderPlan.MetadataPolicy) async throws {
        let tiff = try await written(Self.source(), as: .tiff, metadata)
        let block = try #require(ExifBlock(tiff))
        #expect(block.text(.copyright) == "Ada (Lovelace)" && block.text(.artist) == "Byron")

        for format in [ImageFormat.jpeg, .webp] {
            let found = try await fields(written(tiff, as: format, metadata))
            #expect(found.ownership.copyright == "Ada (Lovelace)" && found.ownership.artist == "Byron")
        }
    }

    @Test("JPEG XL has them in a box of its container, with the same pixels")
    func container() async throws {
        let bare = try await written(Self.source(), as: .jxl, .none)
        let kept = try await written(Self.source(), as: .jxl, .strip)

        #expect(ImageFormat(sniffing: kept) == .jxl)
        let start = try #require(kept.indices.first { kept[$0...].starts(with: "Exif".utf8) })
        let block = try #require(ExifBlock(Array(kept[(start + 8)...])))
        #expect(block.text(.copyright) == "Ada (Lovelace)" && block.text(.artist) == "Byron")
        #expect(kept.suffix(bare.count).elementsEqual(bare))
        let again = try await written(kept, as: .png, .strip)
        #expect(try TestPicture(decoding: again).width == 20)
    }

    /// Renders from any format to any format.
    private func written(
        _ source: [UInt8], as format: ImageFormat, _ metadata: RenderPlan.MetadataPolicy
    ) async throws -> [UInt8] {
        var plan = RenderPlan(pipeline: TransformPipeline(), format: .explicit(format))
        plan.metadata = metadata
        plan.decodableFormats = ImageFormat.allCases
        let target = try RenderTarget()
        let rendition = try await InProcessRenderer().render(
            plan, from: .bytes(source), into: target.file, at: 0)
        return target.bytes(rendition)
    }

    @Test("keep of a GIF keeps at least as much as strip")
    func keptComment() async throws {
        let gif = try await rendered(Self.source(), as: .explicit(.gif)) { $0.metadata = .keep }.bytes
        let comment = Array("Author: Byron; Copyright: Ada (Lovelace)".utf8)

        #expect(gif.indices.contains { gif[$0...].starts(with: comment) })
    }

    /// A picture with an ownership in IPTC or XMP, and optionally other EXIF of either byte order.
    private static func source(namedIn field: String, exif: [UInt8]? = nil) throws -> [UInt8] {
        let image = try TestPicture.ramps(40, 20).image().duplicate()
        let iptc: [UInt8] =
            Array("Photoshop 3.0\0".utf8) + Array("8BIM".utf8) + [4, 4, 0, 0, 0, 0, 0, 16]
            + [0x1C, 2, 80, 0, 3] + Array("Ann".utf8) + [0x1C, 2, 116, 0, 3] + Array("(c)".utf8)
        if field == "iptc-data" { image.set(field, to: iptc) } else { image.set(field, to: Array(xmp.utf8)) }
        guard let exif else { return try TestPicture.bytes(of: image, as: .jpeg) }
        // libvips would write the block in its own byte order.
        let bytes = try TestPicture.bytes(of: image, as: .jpeg)
        let segment = Array("Exif\0\0".utf8) + exif
        let length = segment.count + 2
        return bytes[..<2] + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + segment + bytes[2...]
    }

    /// EXIF with only a program's name, in big-endian or little-endian order.
    private static func software(isBigEndian: Bool) -> [UInt8] {
        isBigEndian
            ? Array("MM".utf8) + [0, 42, 0, 0, 0, 8, 0, 1, 1, 0x31, 0, 2, 0, 0, 0, 4] + Array("abc\0".utf8)
                + [0, 0, 0, 0]
            : Array("II".utf8) + [42, 0, 8, 0, 0, 0, 1, 0, 0x31, 1, 2, 0, 4, 0, 0, 0] + Array("abc\0".utf8)
                + [0, 0, 0, 0]
    }

    @Test(
        "keep keeps every ownership that strip keeps, wherever the source has it",
        arguments: [ImageFormat.jpeg, .png, .webp, .avif, .jxl, .tiff, .gif], ["iptc-data", "xmp-data"])
    func keptOwner(format: ImageFormat, field: String) async throws {
        for exif in [nil, Self.software(isBigEndian: true), Self.software(isBigEndian: false)] {
            let bytes = try await written(
                Self.source(namedIn: field, exif: exif), as: format, .keep)
            let isIPTC = field == "iptc-data"
            if [.jpeg, .png, .webp, .avif].contains(format) {
                let found = try fields(bytes).ownership
                #expect(found.artist == (isIPTC ? "Ann" : nil))
                #expect(found.copyright == (isIPTC ? "(c)" : "© Grace & Co"))
                continue
            }
            for text in isIPTC ? ["Ann", "(c)"] : ["© Grace & Co"] {
                let isThere = bytes.indices.contains { bytes[$0...].starts(with: text.utf8) }
                #expect(isThere, "\(format), \(field): \(text)")
            }
        }
    }

    @Test("Ownership is added to EXIF of either byte order, without other changes", arguments: [true, false])
    func added(isBigEndian: Bool) throws {
        let block = try #require(ExifBlock(Self.software(isBigEndian: isBigEndian)))
        var ownership = Ownership(exif: nil, iptc: nil, xmp: nil, comments: ["Copyright": "a longer notice"])
        ownership.artist = "Ann"

        let found = block.adding(ownership)

        #expect(found.text(.copyright) == "a longer notice" && found.text(.artist) == "Ann")
        #expect(found.bytes.indices.contains { found.bytes[$0...].starts(with: "abc\0".utf8) })
        #expect(found.adding(ownership).text(.artist) == "Ann")
    }

    @Test("keep keeps everything, upright; none keeps nothing")
    func keepAndNone() async throws {
        for format in [ImageFormat.jpeg, .webp, .avif] {
            let kept = try await fields(
                rendered(Self.source(), as: .explicit(format)) { $0.metadata = .keep }.bytes)
            let bare = try await fields(
                rendered(Self.source(), as: .explicit(format)) { $0.metadata = .none }.bytes)

            #expect(kept.hasLocation && kept.image == 1 && kept.ownership.copyright == "Ada (Lovelace)")
            #expect(!bare.hasLocation && bare.ownership.isEmpty)
        }
        let png = try await rendered(Self.source(), as: .explicit(.png)) { $0.metadata = .keep }.bytes
        let block = try #require(exif(inPNG: png))
        #expect(block.text(.copyright) == "Ada (Lovelace)")
        // At most one (PNG third edition §11.3.4.6).
        #expect(png.indices.count { png[$0...].starts(with: "eXIf".utf8) } == 1)
        var upright = block
        upright.resetOrientation()
        #expect(upright.bytes == block.bytes)
        #expect(
            exif(inPNG: try await rendered(Self.source(), as: .explicit(.png)) { $0.metadata = .none }.bytes)
                == nil)
    }

    @Test("A WebP has no EXIF where nothing is kept, and the same pixels", arguments: [false, true])
    func webPWithoutExif(isLossless: Bool) async throws {
        let opaque = try Self.source(exif: false)
        let cut = try await rendered(opaque, "round:5").bytes
        for (source, chunk) in [(opaque, isLossless ? "VP8L" : "VP8 "), (cut, "VP8X")] {
            func written(_ metadata: RenderPlan.MetadataPolicy) async throws -> [UInt8] {
                try await rendered(source, as: .explicit(.webp)) {
                    $0.metadata = metadata
                    $0.isLossless = isLossless
                }.bytes
            }
            let bare = try await written(.none)

            #expect(try await written(.strip) == bare)
            #expect(!bare.indices.contains { bare[$0...].starts(with: "EXIF".utf8) })
            #expect(String(decoding: bare[12..<16], as: UTF8.self) == chunk)
            let length = bare[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
            #expect(length == bare.count - 8)
            #expect(try TestPicture(decoding: bare) == TestPicture(decoding: await written(.keep)))
        }
    }

    @Test("A copyright in XMP alone is kept")
    func fromXMP() async throws {
        let bytes = try await rendered(Self.source(exif: false, xmp: true), as: .explicit(.jpeg)).bytes

        #expect(try fields(bytes).ownership.copyright == "© Grace & Co")
        #expect(!bytes.indices.contains { bytes[$0...].starts(with: "xmpmeta".utf8) })
    }

    @Test("A copyright in IPTC alone is read, whatever precedes it")
    func fromIPTC() {
        let block: [UInt8] =
            Array("Photoshop 3.0\0".utf8) + [0x1C, 2, 80, 0, 3] + Array("Ann".utf8)
            + [0x1C, 2, 116, 0, 4] + Array("(c)A".utf8)

        let found = Ownership(exif: nil, iptc: block, xmp: nil, comments: [:])

        #expect(found.copyright == "(c)A" && found.artist == "Ann")
        for length in 0..<block.count {
            _ = Ownership(exif: nil, iptc: Array(block.prefix(length)), xmp: nil, comments: [:])
        }
    }

    /// EXIF with a program's name, and a thumbnail of six bytes behind it.
    private static func thumbnail(isBigEndian: Bool) -> [UInt8] {
        var block = software(isBigEndian: isBigEndian)
        let spelled = { (value: Int, length: Int) -> [UInt8] in
            let big = (0..<length).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
            return isBigEndian ? big : big.reversed()
        }
        block.replaceSubrange(block.count - 4..<block.count, with: spelled(block.count, 4))
        let start = block.count + 2 + 2 * 12 + 4
        block += spelled(2, 2) + spelled(0x0201, 2) + spelled(4, 2) + spelled(1, 4) + spelled(start, 4)
        return block + spelled(0x0202, 2) + spelled(4, 2) + spelled(1, 4) + spelled(6, 4) + spelled(0, 4)
            + Array("secret".utf8)
    }

    @Test(
        "keep drops the thumbnail, which shows what a crop has removed",
        arguments: [ImageFormat.jpeg, .png, .webp, .avif], [false, true])
    func thumbnails(format: ImageFormat, isBigEndian: Bool) async throws {
        let source = try Self.source(namedIn: "xmp-data", exif: Self.thumbnail(isBigEndian: isBigEndian))
        #expect(source.firstRange(of: Array("secret".utf8)) != nil)

        let bytes = try await written(source, as: format, .keep)

        #expect(bytes.firstRange(of: Array("secret".utf8)) == nil)
        #expect(bytes.firstRange(of: Array("abc".utf8)) != nil, "the rest is kept")
    }

    @Test("A damaged EXIF block is ignored, wherever it is truncated or changed")
    func damaged() throws {
        let whole = ExifBlock(Ownership(copyright: "a longer notice", artist: "Ann")).bytes
        #expect(ExifBlock(whole)?.text(.copyright) == "a longer notice")
        #expect(ExifBlock(whole)?.text(.artist) == "Ann")

        for index in whole.indices {
            _ = ExifBlock(Array(whole.prefix(index))).map { [$0.text(.copyright), $0.text(.artist)] }
            for value in [0, 0x7F, 0xFF] as [UInt8] {
                var bent = whole
                bent[index] = value
                _ = ExifBlock(bent).map { [$0.text(.copyright), $0.text(.artist)] }
            }
        }
        for index in Self.thumbnail(isBigEndian: true).indices {
            for value in [0, 1, 0x7F, 0xFF] as [UInt8] {
                var bent = Self.thumbnail(isBigEndian: true)
                bent[index] = value
                var block = ExifBlock(bent)
                block?.removeThumbnail()
                block?.resetOrientation()
            }
        }
    }

    @Test("A thumbnail of strips is removed, too")
    func stripThumbnail() throws {
        // Two directories, the second with two strips of four bytes.
        let pixels = [UInt8](repeating: 7, count: 4)
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
            [tag, type].flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
                + [count, value].flatMap { value in
                    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
                }
        }
        let first = [0, 1] + entry(0x0112, 3, 1, 1 << 16) + [0, 0, 0, 26] as [UInt8]
        let second =
            [0, 2] + entry(0x0111, 4, 2, 56) + entry(0x0117, 3, 2, 4 << 16 | 4) + [0, 0, 0, 0] as [UInt8]
        let offsets = [0, 0, 0, 64, 0, 0, 0, 68] as [UInt8]
        let bytes = Array("MM".utf8) + [0, 42, 0, 0, 0, 8] + first + second + offsets + pixels + pixels
        try #require(bytes.count == 72)
        var block = try #require(ExifBlock(bytes))

        block.removeThumbnail()

        #expect(!block.bytes.contains(7) && block.orientation == 1)
    }

    @Test("A PNG's own text has the ownership")
    func fromPNG() async throws {
        let image = try TestPicture.ramps(8, 8).image().duplicate()
        image.set("png-comment-0-Copyright", to: "Ada")
        let bytes = try TestPicture.bytes(of: image, as: .png)

        let found = try await rendered(bytes, as: .explicit(.jpeg)).bytes

        #expect(try fields(found).ownership.copyright == "Ada")
    }

    @Test("XMP that is kept has the picture's orientation")
    func orientationOfXMP() async throws {
        for text in [
            "<a tiff:Orientation=\"6\" b='6'>", "<a><tiff:Orientation>6</tiff:Orientation></a>",
            "<a tiff:Orientation = '6'/><b tiff:Orientation='3'/>",
        ] {
            let packet = Array(text.utf8)
            let upright = try #require(XMPOrientation.upright(packet))
            let wanted = text.replacing(#/(Orientation[ =>'"]*)\d/#) { "\($0.output.1)1" }
            #expect(String(decoding: upright, as: UTF8.self) == wanted)
        }
        for text in [
            "", "tiff:Orientation", "tiff:Orientation=", "tiff:Orientation='", "<tiff:Orientation/>",
        ] {
            #expect(XMPOrientation.upright(Array(text.utf8)) == nil)
        }

        let image = try TestPicture.ramps(40, 20).image().duplicate()
        image.set("orientation", to: 6)
        image.set("xmp-data", to: Array("<x:xmpmeta tiff:Orientation='1'/>".utf8))
        var bytes = try TestPicture.bytes(of: image, as: .jpeg)
        let mark = Array("tiff:Orientation='".utf8)
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: mark) }) + mark.count
        bytes[place] = UInt8(ascii: "6")
        for format in [ImageFormat.jpeg, .webp] {
            let kept = try await rendered(bytes, as: .explicit(format)) { $0.metadata = .keep }

            #expect(kept.picture.width == 20)
            let place = try #require(kept.bytes.indices.first { kept.bytes[$0...].starts(with: mark) })
            #expect(kept.bytes[place + mark.count] == UInt8(ascii: "1"))
        }
    }
}
