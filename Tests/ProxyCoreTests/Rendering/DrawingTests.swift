// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ProxyCore

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

    @Test("Nothing outside the drawing is loaded, data: is")
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

    @Test("Scripts do nothing, and styles load nothing")
    func scripts() async throws {
        let picture = try await drawn(
            Self.svg(
                "<script>document.documentElement.innerHTML=''</script><style>@import url('file:///etc/passwd');</style>"
                    + "<rect width='20' height='20' fill='#f00' onload='alert(1)'/>"))

        #expect(picture[10, 10] == [255, 0, 0, 255])
    }

    @Test(
        "Entities that refer to files or to one another are refused, plain ones are let in",
        arguments: [
            ("<!DOCTYPE svg [<!ENTITY a 'x'>]>", true),
            ("<!DOCTYPE svg [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>", false),
            ("<!DOCTYPE svg [<!ENTITY a 'lol'><!ENTITY b '&a;&a;&a;'>]>", false),
            ("<!DOCTYPE svg [<!ENTITY % a 'x'>]>", false),
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

    @Test("A drawing too large for the limits is refused from its header")
    func size() async throws {
        let large = "<svg xmlns='http://www.w3.org/2000/svg' width='30001' height='10'></svg>"

        await #expect(throws: RenderError.tooManyPixels) { try await drawn(large) }
    }

    @Test("Without the configuration's word no drawing is read")
    func refused() async throws {
        await #expect(throws: RenderError.unsupportedFormat("svg")) {
            try await rendered(Array(Self.svg(Self.red).utf8))
        }
    }
}
