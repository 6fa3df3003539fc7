// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Dialects

@Suite("URLs of imagor")
struct ImagorTests {
    private func translate(_ path: String, lenient: Bool = false) throws -> Translation {
        var settings = Thumbor.Settings()
        settings.allowsUnsafe = true
        settings.lenient = lenient
        settings.flavor = .imagor
        settings.defaultScheme = "https"
        return try Thumbor(settings).translate(DialectTarget(path))
    }

    @Test(
        "imagor's own parts and filters are read",
        arguments: [
            ("0.1x0.2:0.5x1", "crop:40pcx80pc:x=10pc:y=20pc"),
            ("stretch/30x20", "resize:30x20:fill:enlarge=1"),
            (
                "fit-in/30x20/1x2:3x4/filters:fill(red)",
                "resize:30x20,extend:30x20:color=red,pad:2:3:4:1:color=red"
            ),
            ("fit-in/30x20/5x6", "resize:30x20,pad:6:5:6:5"),
            ("9x9/filters:focal(0.3x0.1:0.5x0.3)", "resize:9x9:cover:enlarge=1:gravity=focal:fx=0.4:fy=0.2"),
            ("9x9/filters:focal(0.25,0.5)", "resize:9x9:cover:enlarge=1:gravity=focal:fx=0.25:fy=0.5"),
            ("9x/filters:orient(90)", "rotate:270,resize:9x:fill:enlarge=1"),
            ("filters:hue(290):saturation(50)", "hue:290,saturation:1.5"),
            ("filters:blur(2):sharpen(3)", "blur:2,sharpen:3"),
            ("filters:pixelate(5)", "pixelate:5"),
            ("filters:round_corner(10)", "round:10:ry=10"),
            ("filters:round_corner(10,20,fff)", "round:10:ry=20,background:fff"),
            ("fit-in/30x20/filters:upscale()", "resize:30x20:enlarge=1:down=1"),
            (
                "fit-in/30x20/filters:no_upscale():fill(blur)",
                "resize:30x20,extend:30x20:fill=blur:enlarge=0"
            ),
            ("filters:trim(20,bottom-right)", "trim:12:corner=southeast"),
            ("filters:proportion(50)", "resize:50pcx50pc:fill:down=1"),
            (
                "filters:label(Hi%20you,10,-20,30,ff0000,50,Sans%20Bold)",
                "text:text64=SGkgeW91:size=30:color=ff000080:font=Sans_Bold:gravity=southwest:x=10:y=20"
            ),
        ])
    func imagor(options: String, transform: String) throws {
        let translation = try translate("/unsafe/\(options)/h/a.jpg")
        #expect(translation["transform"] == transform)
        #expect(translation["url"] == "https://h/a.jpg")
    }

    @Test("imagor's filters about the answer are parameters")
    func imagorOutput() throws {
        let saved = try translate(
            "/unsafe/filters:attachment(cat.jpg):page(3):format(jxl):quality(70)/h/a.pdf")
        #expect(saved["filename"] == "cat.jpg" && saved["download"] == "1")
        #expect(saved["frame"] == "2" && saved["format"] == "jxl" && saved["quality"] == "70")
        #expect(try translate("/unsafe/10x/filters:raw()/h/a.jpg")["transform"] == nil)
        #expect(try translate("/unsafe/filters:max_frames(1)/h/a.gif")["animate"] == "first")
        #expect(try translate("/unsafe/filters:expire(5000)/h/a.gif")["expires"] == "5")
    }

    @Test("No text of a filter can become an operation of ours")
    func injection() throws {
        for filter in [
            "background_color(red%2Cblur:9)", "fill(red%2Cblur:9)", "label(a,1,1,9,red,0,x%2Cblur:9)",
            "label(a,1,1,9,red%3Ablur)", "round_corner(1,2,3%2Cblur:9,4)", "format(png%26url=x)",
        ] {
            let translation = try translate("/unsafe/fit-in/9x9/filters:\(filter)/h/a.jpg", lenient: true)
            #expect(!(translation["transform"] ?? "").contains("blur"), "\(filter)")
            #expect(translation["format"] == "source")
        }
    }
}
