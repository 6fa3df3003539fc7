// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives
import TestSupport
import Testing

@testable import ImageTestSupport
@testable import Imaging
@testable import Rendering

@Suite("Drawings (SVG)")
struct DrawingTests {
    private func drawn(_ text: String, _ transform: String = "") async throws -> TestPicture {
        try await rendered(Array(text.utf8), transform) { $0.decodableFormats.append(.svg) }.picture
    }

    private static func svg(_ content: String, _ head: String = "") -> String {
        head + "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' "
            + "width='20' height='20'>\(content)</svg>"
    }

    private static let red = "<rect width='20' height='20' fill='#f00'/>"

    @Test("Only data: URLs are loaded")
    func references() async throws {
        let folder = try TemporaryDirectory()
        let png = try TestPicture.plain(20, 20, [0, 0, 255]).encoded(as: .png)
        try Data(png).write(to: URL(fileURLWithPath: folder.path + "/blue.png"))
        let inline = "data:image/png;base64,\(Data(png).base64EncodedString())"

        for place in [
            "file://\(folder.path)/blue.png", "\(folder.path)/blue.png", "http://127.0.0.1:9/b.png",
        ] {
            let picture = try await drawn(
                Self.svg(Self.red + "<image width='20' height='20' xlink:href='\(place)'/>"))
            #expect(picture[10, 10] == [255, 0, 0, 255], "\(place)")
        }
        let picture = try await drawn(
            Self.svg(Self.red + "<image width='20' height='20' xlink:href='\(inline)'/>"))
        #expect(picture[10, 10] == [0, 0, 255, 255])
    }

    @Test(
        "A drawing without a viewBox is scaled as a whole, whatever its sides are",
        arguments: ["", "width='70'", "height='50'", "width='100%' height='100%'", "width='70' height='50'"],
        ["resize:20x", "resize:210x:enlarge=1"])
    func scaled(sides: String, transform: String) async throws {
        let picture = try await drawn(
            "<svg xmlns='http://www.w3.org/2000/svg' \(sides)><rect width='35' height='50' fill='#f00'/>"
                + "<rect x='35' width='35' height='50' fill='#00f'/></svg>", transform)
        let (x, y) = (picture.width / 4, picture.height / 2)
        #expect(picture[x, y] == [255, 0, 0, 255] && picture[3 * x, y] == [0, 0, 255, 255])
    }

    @Test("Scripts are not run, and styles load nothing")
    func scripts() async throws {
        let picture = try await drawn(
            Self.svg(
                "<script>document.documentElement.innerHTML=''</script><style>@import url('file:///etc/passwd');</style>"
                    + "<rect width='20' height='20' fill='#f00' onload='alert(1)'/>"))

        #expect(picture[10, 10] == [255, 0, 0, 255])
    }

    @Test(
        "Entities that refer to files or to one another are refused, plain ones are accepted",
        arguments: [
            ("<!DOCTYPE svg [<!ENTITY a 'x'>]>", true),
            ("<!DOCTYPE svg [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>", false),
            ("<!DOCTYPE svg [<!ENTITY a 'lol'><!ENTITY b '&a;&a;&a;'>]>", false),
            ("<!DOCTYPE svg [<!ENTITY % a 'x'>]>", false),
            ("<!DOCTYPE svg [<!ENTITY a '>&b;'>]>", false),
            ("<!DOCTYPE svg [<!ENTITY a '<g/>'>]>", false),
            ("<!DOCTYPE svg [<!ENTITY a '\u{600}<g/>\u{301}'>]>", false),
            ("<!DOCTYPE svg [<!ATTLIST svg xmlns:a CDATA #FIXED 'http://a/'>]>", true),
            ("<!DOCTYPE svg [<!ATTLIST image href CDATA 'data:image/png,'>]>", false),
            ("<?xml version='1.0' encoding='UTF-8'?>", true),
            ("<?xml version='1.0' encoding='UTF-7'?>", false),
            ("<?xml version='1.0' encoding='IBM037'?>", false),
            ("<!DOCTYPE svg [" + String(repeating: "<!ENTITY a 'x'>", count: 65) + "]>", false),
        ])
    func entities(head: String, isLetIn: Bool) async throws {
        let text = Self.svg(Self.red, head)
        guard isLetIn else {
            let error = await #expect(throws: RenderError.self) { try await drawn(text) }
            guard case .badImageData = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            return
        }
        #expect(try await drawn(text)[10, 10] == [255, 0, 0, 255])
    }

    /// Elements of which each draws the one before `times` times, with `first` as the first.
    private static func tower(_ floors: Int, _ times: Int, of first: String, _ floor: (Int) -> String)
        -> String
    {
        let levels = (1...floors).map { level in
            "<g id='a\(level)'>" + String(repeating: floor(level - 1), count: times) + "</g>"
        }
        return svg("<defs><g id='a0'>\(first)</g>\(levels.joined())</defs>" + floor(floors))
    }

    @Test(
        "Multiplying references are refused in any spelling; as many as real drawings have are accepted"
    )
    func towers() async throws {
        let uses: [(Int) -> String] = [
            { "<use xlink:href='#a\($0)'/>" }, { "<use\n href = \"#a\($0)\" />" },
            { "<rect width='9' height='9' style='stroke:#fff;mask:url(#a\($0))'/>" },
            { "<g clip-path='url(#a\($0))'><!-- <g> --><path d='M0 0'/></g>" },
        ]
        for use in uses {
            let error = await #expect(throws: RenderError.self) {
                try await drawn(Self.tower(9, 10, of: Self.red, use))
            }
            guard case .badImageData = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        let fair = Self.tower(3, 10, of: Self.red) { "<use xlink:href='#a\($0)'/>" }
        #expect(try await drawn(fair)[10, 10] == [255, 0, 0, 255])
    }

    @Test("Multiplying references are found after a doctype that seems to open a comment")
    func hiddenTower() async throws {
        let tower = Self.tower(9, 10, of: Self.red) { "<use xlink:href='#a\($0)'/>" }

        for doctype in [
            "<!DOCTYPE svg [<!ELEMENT a (#PCDATA)><!NOTATION a PUBLIC '> <!-- '>]>",
            "<!DOCTYPE svg PUBLIC '><!-- ' 'a'>",
        ] {
            #expect(SVGElementCount(Array((doctype + tower).utf8)).isExcessive, "\(doctype)")
        }
    }

    private static func image(_ type: String, _ file: [UInt8]) -> String {
        "<image width='20' height='20' href='\(type),\(Data(file).base64EncodedString())'/>"
    }

    @Test("Pictures in a drawing count towards the limits, in any encoding")
    func embeddedPixels() async throws {
        let picture = TestPicture.plain(300, 200, [0, 0, 255])
        let png = try picture.encoded(as: .png)
        let percent = png.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()

        for content in [
            Self.image("data:image/png;base64", png), Self.image("DATA:;base64", png),
            Self.image("&#100;ata:image/png;base64", png), Self.image("da&#10;ta:image/png;base64", png),
            Self.image("data:image/jpeg;base64", try picture.encoded(as: .jpeg)),
            "<filter><feImage xlink:href='data:image/png,\(percent)'/></filter>",
        ] {
            let drawing = Array(Self.svg(Self.red + content).utf8)
            let pixels = try unsafe drawing.withUnsafeBytes { (text) throws(ImagingError) in
                try unsafe SVGCheck.check(text)
            }
            #expect(pixels == 60_000, "\(content.prefix(60))")
            await #expect(throws: RenderError.tooManyPixels("")) {
                try await rendered(drawing) {
                    $0.decodableFormats.append(.svg)
                    $0.limits.sourcePixels = 59_999
                }
            }
        }
    }

    @Test("A picture in a drawing that states impossible sides is counted as far as sides go")
    func impossibleSides() throws {
        var png = try TestPicture.plain(3, 2, [0, 0, 255]).encoded(as: .png)
        png.replaceSubrange(16..<24, with: [UInt8](repeating: 0xFF, count: 8))
        let drawing = Array(Self.svg(Self.image("data:image/png;base64", png)).utf8)

        let pixels = try unsafe drawing.withUnsafeBytes { (text) throws(ImagingError) in
            try unsafe SVGCheck.check(text)
        }

        #expect(pixels > 1_000_000_000)
    }

    @Test("An element that is called memory is damage like any other, not a lack of memory")
    func memoryElement() async throws {
        let error = await #expect(throws: RenderError.self) { try await drawn(Self.svg("<memory></svg>")) }
        guard case .badImageData = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("A drawing with another drawing, or with a picture that is only a header, is refused")
    func embeddedDrawings() async throws {
        let inner = Array(Self.svg("<rect id='a' width='20' height='20'/>").utf8)
        let data = "data:image/svg+xml;base64,\(Data(inner).base64EncodedString())"
        var hollow = try TestPicture.plain(16, 16, [0, 0, 255]).encoded(as: .jpeg)
        let frame = try #require(
            hollow.indices.dropLast().first { hollow[$0] == 0xFF && [0xC0, 0xC2].contains(hollow[$0 + 1]) })
        hollow.replaceSubrange(frame + 5..<frame + 9, with: [0x17, 0x70, 0x17, 0x70])

        for content in [
            "<image width='20' height='20' href='\(data)'/>", "<use xlink:href='\(data)#a'/>",
            "<rect width='20' height='20' fill='url(\(data)#a)'/>",
            "<x:include xmlns:x='http://www.w3.org/2001/XInclude' href='\(data)'/>",
            "<rect width='20' height='20' fill='url(&#100;ata:a,b#a)'/>",
            "<image width='20' height='20' href='&a;'/>", Self.image("data:image/jpeg;base64", hollow),
        ] {
            let error = await #expect(throws: RenderError.self) { try await drawn(Self.svg(content)) }
            guard case .badImageData = error else {
                Issue.record("\(String(describing: error)): \(content.prefix(60))")
                continue
            }
        }
    }

    @Test("The pictures in a drawing are part of its job's memory estimate")
    func embeddedMemory() {
        var header = ImageHeader(
            format: .svg, size: PixelSize(20, 20), frames: 1, hasAlpha: true, orientation: 1)
        let plan = RenderPlan(pipeline: TransformPipeline(), format: .explicit(.jpeg))
        let alone = MemoryEstimate(header: header, frames: 1, plan: plan, sourceBytes: 0).bytes
        header.embeddedPixels = 49_000_000

        let both = MemoryEstimate(header: header, frames: 1, plan: plan, sourceBytes: 0).bytes

        // Measured: 6.7 bytes per pixel.
        #expect((300 << 20...450 << 20).contains(both - alone))
    }

    @Test("The weight of malformed, recursive and deeply nested drawings is computed")
    func oddTexts() {
        func isExcessive(_ text: String) -> Bool { SVGElementCount(Array(text.utf8)).isExcessive }
        let depth = 20_000

        for text in [
            "", "<", "<>", "</", "<svg", "<svg id=", "<svg id='a", "<!--", "<![CDATA[", "<?", "a<b>c",
            "</svg></svg>",
            "<g id='a'><use href='#a'/></g>", "<g id='a'><use href='#b'/></g><g id='b'><use href='#a'/></g>",
            "<use href='#'/>", "<rect fill='url(#)'/>", "<a id='#'/><use href='##'/>",
            String(repeating: "<g>", count: depth) + String(repeating: "</g>", count: depth),
            "<linearGradient id='p'>" + String(repeating: "<stop/>", count: 9) + "</linearGradient>"
                + String(repeating: "<rect fill='url(#p)'/>", count: depth),
        ] {
            #expect(!isExcessive(text), "\(text.prefix(60))")
        }
        let symbol = "<symbol id='s'>" + String(repeating: "<path/>", count: 600) + "</symbol>"
        #expect(isExcessive(symbol + String(repeating: "<use href='#s'/>", count: 100)))
        #expect(!isExcessive(symbol + String(repeating: "<use href='#s'/>", count: 80)))
    }

    @Test("A drawing too large for the limits is refused from its header")
    func size() async throws {
        let large = "<svg xmlns='http://www.w3.org/2000/svg' width='30001' height='10'></svg>"

        await #expect(throws: RenderError.tooManyPixels("")) { try await drawn(large) }
    }

    @Test(
        "A drawing larger than any picture can be is too large, and not empty",
        arguments: [
            "width='20000000' height='10'", "width='100000000' height='100000000'",
            "width='3000000000' height='1'", "viewBox='0 0 10 3e9'", "style='width:10px;height:1e30px'",
        ])
    func beyond(sides: String) async throws {
        let text = "<svg xmlns='http://www.w3.org/2000/svg' \(sides)>\(Self.red)</svg>"

        for transform in ["", "resize:20x"] {
            await #expect(throws: RenderError.tooManyPixels("")) { try await drawn(text, transform) }
        }
    }

    @Test("A drawing of one pixel is rendered", arguments: [(1, 1), (1, 400), (400, 1)])
    func smallest(width: Int, height: Int) async throws {
        let text =
            "<svg xmlns='http://www.w3.org/2000/svg' width='\(width)' height='\(height)'>"
            + "<rect width='400' height='400' fill='#f00'/></svg>"

        let picture = try await drawn(text)

        #expect(picture.width == width && picture.height == height && picture[0, 0] == [255, 0, 0, 255])
    }

    @Test("Drawings are refused unless the configuration allows them")
    func refused() async throws {
        await #expect(throws: RenderError.unsupportedFormat("svg")) {
            try await rendered(Array(Self.svg(Self.red).utf8))
        }
    }
}
