// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport
import Testing

@testable import Imaging

/// Building a pipeline, and taking it along.
extension BrowserTests {
    @Test("Every operation of /transforms can be added, and its form is made from its parameters")
    func build() async throws {
        try await browser.visit(daemon.address) {
            let offered = try await browser.run(
                "return [...document.querySelectorAll('#picker-list button')].map((b) => b.dataset.name).toSorted()"
            )
            #expect(offered == .strings(TransformRegistry.all.map { $0.name }.sorted()))

            try await browser.add("rotate")
            try await browser.waitForPipeline("resize:800x,rotate:8")
            let fields = try await browser.run(
                "return [...document.querySelectorAll('[data-operation=rotate] .field')].map((f) => f.dataset.parameter)"
            )
            #expect(fields == ["angle", "fit", "color"].json)
            try await browser.type(
                "90", into: "[data-operation=rotate] [data-parameter=angle] input[type=text]")
            try await browser.waitForResult("533 × 800")
            try await browser.click("[data-operation=rotate] [data-parameter=fit] input")
            try await browser.waitForPipeline("resize:800x,rotate:90:0")
            try await browser.waitForResult("800 × 533")
        }
    }

    @Test("An operation is moved by keys, keeps the focus, and its place is announced")
    func keyboard() async throws {
        try await browser.visit(daemon.address) {
            try await browser.add("flip")
            try await browser.waitForPipeline("resize:800x,flip:h")
            try await browser.run("document.querySelector('[data-operation=flip] .grip').focus()")

            try await browser.press(.up)

            try await browser.waitForPipeline("flip:h,resize:800x")
            try await browser.wait(
                until: "document.querySelector('#announcement').textContent === 'flip is 1 of 2'")
            #expect(
                try await browser.run("return document.activeElement.ariaLabel").text?
                    .hasPrefix("Move flip, 1 of 2") == true)
            try await browser.press(.up, .down)
            try await browser.waitForPipeline("resize:800x,flip:h")
            try await browser.click("[aria-label='Move flip up']")
            try await browser.waitForPipeline("flip:h,resize:800x")
        }
    }

    @Test("An operation is moved by the mouse")
    func mouse() async throws {
        try await browser.visit(daemon.address) {
            try await browser.add("flip")
            try await browser.add("grayscale")
            try await browser.waitForPipeline("resize:800x,flip:h,grayscale")
            try await browser.run(
                "document.querySelector('[data-operation=grayscale]').scrollIntoView({ block: 'end' })")

            try await browser.drag(
                "[data-operation=grayscale] .grip", by: [(0, -30), (0, -60), (0, -60), (0, -60)])

            try await browser.waitForPipeline("resize:800x,grayscale,flip:h")
            #expect(try await browser.operations() == .strings(["resize", "grayscale", "flip"]))
        }
    }

    @Test("What is removed comes back by undo, and goes again by redo")
    func undo() async throws {
        try await browser.visit(daemon.address) {
            try await browser.add("blur")
            try await browser.type(
                "12", into: "[data-operation=blur] [data-parameter=sigma] input[type=text]")
            try await browser.waitForPipeline("resize:800x,blur:12")
            try await browser.click("[aria-label='Remove blur']")
            try await browser.waitForPipeline("resize:800x")

            try await browser.click("#undo")
            try await browser.waitForPipeline("resize:800x,blur:12")
            try await browser.press(.z, holding: [.control])
            try await browser.waitForPipeline("resize:800x,blur:6")
            try await browser.press(.z, holding: [.control, .shift])
            try await browser.waitForPipeline("resize:800x,blur:12")
            try await browser.click("#redo")
            try await browser.waitForPipeline("resize:800x")
            #expect(try await browser.run("return document.querySelector('#redo').disabled") == .bool(true))
        }
    }

    @Test("An error is shown at the field that caused it, and goes when that is right")
    func problem() async throws {
        let width = "[data-operation=resize] [data-parameter=size] input"

        try await browser.visit(daemon.address, expecting: ["status of 400"]) {
            try await browser.type("8oo", into: width)
            try await browser.wait(until: "document.querySelector(\"\(width)\").ariaInvalid === 'true'")
            #expect(
                try await browser.text("[data-parameter=size] .error").hasPrefix("expected a size such as"))
            #expect(try await browser.text("#problem").contains("position 7"))
            #expect(
                try await browser.run("return document.querySelectorAll('[aria-invalid=true]').length") == 2)

            try await browser.click("#go-to-field")
            #expect(
                try await browser.run("return document.activeElement.matches(arguments[0])", .string(width))
                    == .bool(true))
            try await browser.type("300", into: width)
            try await browser.waitForResult("300 × 200")
            #expect(try await browser.run("return document.querySelectorAll('[aria-invalid]').length") == 0)

            try await browser.type("200", into: "[data-output=quality] input[type=text]")
            try await browser.wait(
                until: "document.querySelector('[data-output=quality] [aria-invalid=true]')")
            #expect(try await browser.text("[data-output=quality] .error") == "must be from 1 to 100")
            try await browser.type("50", into: "[data-output=quality] input[type=text]")
            try await browser.wait(until: "document.querySelector('#problem').hidden")

            try await browser.type("resize:300x,blurr:2", into: "#transform-text")
            try await browser.press(.enter)
            try await browser.wait(until: "document.querySelector('.operation.wrong')")
            #expect(try await browser.text(".operation.wrong > .error").contains("did you mean 'blur'"))
        }
    }

    @Test("An error of the source is shown at its field")
    func sourceProblem() async throws {
        try await browser.visit(daemon.address, expecting: ["status of 404"]) {
            try await browser.type(daemon.proxy.origin.url("/none.jpg"), into: "#source")
            try await browser.press(.enter)

            try await browser.wait(until: "document.querySelector('#source').ariaInvalid === 'true'")
            #expect(try await browser.text("#source-error").contains("404"))
            try await browser.click(".sample")
            try await browser.wait(until: WebDriver.isShown)
            #expect(
                try await browser.run("return document.querySelector('#source-error').hidden") == .bool(true))
        }
    }

    @Test(
        "The pipeline is copied as URL, img, picture and curl, and the widths of srcset are those of the pictures"
    )
    func copy() async throws {
        try await browser.devTools(
            "Browser.grantPermissions",
            [
                "origin": .string(daemon.address),
                "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"].json,
            ])
        let widths = """
            const text = document.querySelector("#copy-code").textContent;
            const found = new DOMParser().parseFromString(text, "text/html");
            const all = [...found.querySelectorAll("[srcset]")].flatMap((e) => e.getAttribute("srcset").split(",\\n"));
            return Promise.all(all.map(async (line) => {
              const [url, width] = line.trim().split(" ");
              const image = new Image();
              image.src = url;
              await image.decode();
              return [image.naturalWidth, parseInt(width)];
            }));
            """

        try await browser.visit(daemon.address) {
            try await browser.click("#copy")
            try await browser.wait(until: "document.querySelector('#copy').dataset.copied")
            let copied = try await browser.run("return navigator.clipboard.readText()").text
            #expect(copied?.hasPrefix(daemon.address + "/img?url=") == true)
            #expect(copied?.hasSuffix("&transform=resize:800x") == true)

            for (kind, count) in [("img", 3), ("picture", 9)] {
                try await browser.click("#copy-\(kind)")
                try await browser.wait(
                    until: "document.querySelector('#copy-code').textContent.startsWith('<\(kind)')")
                let pairs = try await browser.run(widths).values
                #expect(
                    pairs.count == count && pairs.allSatisfy { $0.values.first == $0.values.last }, "\(pairs)"
                )
            }
            try await browser.click("#copy-curl")
            try await browser.wait(
                until: "document.querySelector('#copy-code').textContent.startsWith('curl')")
            #expect(try await browser.text("#copy-code").contains("-o 'photo.avif'"))
        }
    }
}

extension [String] {
    var json: JSONValue { .strings(self) }
}
