// SPDX-License-Identifier: Apache-2.0

import CVips
import Testing

@testable import Bodies
@testable import ImageTestSupport
@testable import Imaging
@testable import Rendering

@Suite("Texts of a picture that libvips reads otherwise than their standard says, or not")
struct ForeignTextTests {
    private static let picture = TestPicture.ramps(40, 20)

    private func ownership(_ bytes: [UInt8]) throws -> Ownership {
        let format = try #require(ImageFormat(sniffing: bytes))
        return try VipsCoder.open(openedSource(bytes), as: format, frames: .primary, shrink: .none).ownership
    }

    private func written(
        _ source: [UInt8], as format: ImageFormat, _ metadata: RenderPlan.MetadataPolicy = .strip
    ) async throws -> [UInt8] {
        try await rendered(source, as: .explicit(format)) {
            $0.metadata = metadata
            $0.decodableFormats = ImageFormat.allCases
        }.bytes
    }

    private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        let inner = Array(name.utf8) + body
        return bigEndian(body.count) + inner + bigEndian(Int(PNGChecksum.of(inner)))
    }

    /// A PNG with texts in Latin-1.
    private static func latinPNG() throws -> [UInt8] {
        var bytes = try picture.encoded(as: .png)
        let texts: [(String, [UInt8])] = [
            ("Author", [0x52, 0x65, 0x6E, 0xE9]), ("Copyright", [0xA9, 0x20, 0x32]), ("Title", [0xDC, 0x62]),
            ("Comment", Array("plain".utf8)),
        ]
        bytes.insert(
            contentsOf: texts.flatMap { chunk("tEXt", Array($0.0.utf8) + [0] + $0.1) }, at: 33)
        return bytes
    }

    @Test("The texts of a PNG are Latin-1", arguments: [ImageFormat.jpeg, .png, .tiff])
    func latinTexts(format: ImageFormat) async throws {
        let made = try await written(Self.latinPNG(), as: format)
        #expect(try ownership(made) == Ownership(copyright: "© 2", artist: "René"))
    }

    @Test("A PNG of which all is kept has texts beyond ASCII in chunks of UTF-8")
    func internationalTexts() async throws {
        let made = try await written(Self.latinPNG(), as: .png, .keep)

        func contains(_ text: [UInt8]) -> Bool { made.indices.contains { made[$0...].starts(with: text) } }
        #expect(contains(Array("iTXtTitle".utf8) + [0, 0, 0, 0, 0] + "Üb".utf8))
        #expect(contains(Array("zTXtComment\0".utf8)))
        #expect(!contains(Array("<invalid".utf8)))
        #expect(try ownership(made) == Ownership(copyright: "© 2", artist: "René"))
    }

    @Test(
        "EXIF in Latin-1 is kept, in the ASCII that libvips writes",
        arguments: [ImageFormat.jpeg, .webp, .avif])
    func latinExif(format: ImageFormat) async throws {
        let image = try Self.picture.image().duplicate()
        image.set("exif-ifd0-Artist", to: "AXXn (ASCII)")
        image.set("exif-ifd0-ImageDescription", to: "DXXd (ASCII)")
        image.set("exif-ifd0-Software", to: "Engine (ASCII)")
        var source = try TestPicture.bytes(of: image, as: .jpeg)
        for start in source.indices where source[start...].starts(with: "XX".utf8) && start < 300 {
            source.replaceSubrange(start..<start + 2, with: [0xF1, 0xF1])
        }

        let made = try await written(source, as: format, .keep)

        #expect(try ownership(made).artist == "Annn")
        func contains(_ text: String) -> Bool {
            made.indices.contains { made[$0...].starts(with: text.utf8) }
        }
        #expect(contains("Engine") && !contains("<invalid"))
    }

    private static let packet =
        "<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'>"
        + "<dc:creator><rdf:Seq><rdf:li/><rdf:li>Ann</rdf:li><rdf:li>B&#xE9;b&#233;</rdf:li></rdf:Seq></dc:creator>"
        + "<dc:rights><rdf:Alt><rdf:li>R</rdf:li><rdf:li>other</rdf:li></rdf:Alt></dc:rights></x:xmpmeta>"
        + "<?xpacket end='w'?>"

    @Test("XMP in its wrapper is read from AVIF, too, with all creators")
    func wrappedXMP() async throws {
        let image = try Self.picture.image().duplicate()
        image.set("xmp-data", to: Array(Self.packet.utf8))
        let made = try await written(TestPicture.bytes(of: image, as: .avif), as: .jpeg)
        #expect(try ownership(made) == Ownership(copyright: "R", artist: "Ann; Bébé"))
    }

    @Test("Several by-lines of IPTC are one text")
    func byLines() {
        let block: [UInt8] = [
            0x1C, 2, 80, 0, 3, 65, 110, 110, 0x1C, 2, 5, 0, 1, 84, 0x1C, 2, 80, 0, 3, 66, 111, 98,
        ]
        #expect(Ownership(exif: nil, iptc: block, xmp: nil, comments: [:]).artist == "Ann; Bob")
    }

    @Test("A JPEG XL's boxes have its creator", arguments: [true, false])
    func boxes(hasExif: Bool) async throws {
        let image = try Self.picture.image().duplicate()
        if hasExif { image.set("exif-ifd0-Artist", to: "Ann (ASCII)") }
        var source = try await written(TestPicture.bytes(of: image, as: .jpeg), as: .jxl)
        if !hasExif {
            // Into a container, with XMP before the codes.
            let type = bigEndian(20) + Array("ftypjxl ".utf8) + bigEndian(0) + Array("jxl ".utf8)
            let packet = Array(Self.packet.utf8)
            let head = bigEndian(12) + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A] + type
            source =
                head + bigEndian(packet.count + 8) + Array("xml ".utf8) + packet + bigEndian(0)
                + Array("jxlc".utf8) + source
        }

        for policy in [RenderPlan.MetadataPolicy.strip, .keep] {
            let made = try await written(source, as: .jpeg, policy)
            #expect(try ownership(made).artist == (hasExif ? "Ann" : "Ann; Bébé"), "\(policy)")
        }
    }
}
