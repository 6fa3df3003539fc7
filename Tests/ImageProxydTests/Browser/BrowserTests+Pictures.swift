// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

/// Comparing, cutting, and other sources.
extension BrowserTests {
    @Test("The slider compares with the source, and with the same pixels without loss, by keys and by drag")
    func slider() async throws {
        let place = "parseFloat(document.querySelector('#compare').style.getPropertyValue('--at'))"

        try await browser.visit(daemon.address) {
            try await browser.click("#tab-slider")
            try await browser.wait(until: "document.querySelector('#compare-before').naturalWidth === 1200")
            try await browser.run("document.querySelector('#compare-at').focus()")
            try await browser.press(.right, .right)
            #expect(try await browser.run("return \(place)").decimal ?? 0 > 50)
            try await browser.drag("#compare-at", by: [(-100, 0), (-100, 0)])
            #expect(try await browser.run("return \(place)").decimal ?? 100 < 45)

            try await browser.run(
                "const s = document.querySelector('#compare-with'); s.value = 'lossless'; s.dispatchEvent(new Event('change'))"
            )
            try await browser.wait(until: "document.querySelector('#compare-before').naturalWidth === 800")
            #expect(try await browser.text("#compare-left") == "Without loss")
        }
    }

    @Test(
        "The grid measures formats and qualities; more quality is more similar, and a click takes a variant")
    func grid() async throws {
        try await browser.visit(daemon.address) {
            try await browser.click("#tab-grid")
            try await browser.click("#measure")
            try await browser.wait(
                until: "document.querySelectorAll('.variant.best').length === 1"
                    + " && document.querySelectorAll('.variant:not(:disabled)').length === 15")
            let rows = try await browser.run(
                """
                return [...document.querySelectorAll("#grid-table tbody tr")].map((row) =>
                  [...row.querySelectorAll(".ssim")].map((cell) => parseFloat(cell.textContent)))
                """
            ).values.map { $0.values.map { $0.decimal ?? 0 } }
            #expect(rows.count == 3)
            for row in rows {
                #expect(
                    row.count == 5 && row == row.sorted() && row.allSatisfy { 0.5 < $0 && $0 < 1 }, "\(row)")
            }
            #expect(try await browser.text("#grid-status").contains("800 × 533 written without loss (PNG"))

            try await browser.click("tbody tr:nth-child(2) .variant")
            try await browser.wait(until: "location.hash.endsWith('&format=webp&quality=30')")
            try await browser.click("#tab-side")
            try await browser.wait(
                until: "document.querySelector('#result-facts').textContent.includes('WebP')")
        }
    }

    @Test(
        "SSIM is 1 for equal pictures, for even ones what the formula says, and for others what another program says"
    )
    func similarity() async throws {
        try await browser.visit(daemon.address) {
            let values = try await browser.run(
                """
                return import("./playground/ssim.js").then(({ luma, ssim }) => {
                  const even = (level) => luma(new Uint8ClampedArray(16 * 16 * 4).map((_, i) => (i % 4 === 3 ? 255 : level)));
                  const noise = luma(new Uint8ClampedArray(16 * 16 * 4).map((_, i) => (i % 4 === 3 ? 255 : (i * 7919) % 256)));
                  const steps = Float32Array.from({ length: 1200 }, (_, i) => (i * 7919) % 256);
                  const changed = steps.map((value, i) => Math.min(255, Math.max(0, value + (i * 104729) % 41 - 20)));
                  return [ssim(noise, noise, 16, 16), ssim(even(100), even(110), 16, 16), ssim(steps, changed, 40, 30)];
                });
                """
            ).values.map { $0.decimal ?? -1 }
            let constant = (0.01 * 255) * (0.01 * 255)
            let expected = (2 * 100 * 110 + constant) / (100 * 100 + 110 * 110 + constant)

            #expect(values.count == 3 && abs(values[0] - 1) < 1e-6)
            #expect(abs(values[1] - expected) < 1e-4)
            // That of scikit-image 0.25: gaussian_weights, sigma 1.5, use_sample_covariance=False, data_range 255.
            #expect(abs(values[2] - 0.987948) < 1e-5, "\(values)")
        }
    }

    @Test("A region that is drawn on the source is cut out, and keys move it")
    func crop() async throws {
        try await browser.visit(daemon.address) {
            try await browser.click("#tool-crop")
            let size = try await browser.run(
                "const { width, height } = document.querySelector('#overlay').getBoundingClientRect(); return [width, height]"
            ).values.map { Int($0.decimal ?? 0) }
            let (width, height) = (size[0], size[1])

            try await browser.drag(
                "#overlay", from: (-width / 4, -height / 4),
                by: [(width / 4, height / 4), (width / 4, height / 4)])

            try await browser.wait(
                until: "document.querySelector('#transform-text').value.startsWith('crop:')")
            let text =
                try await browser.run("return document.querySelector('#transform-text').value").text ?? ""
            let match = try #require(
                text.firstMatch(of: #/^crop:([\d.]+)pcx([\d.]+)pc:x=([\d.]+)pc:y=([\d.]+)pc,/#))
            let shares = [match.output.1, match.output.2, match.output.3, match.output.4].compactMap {
                Double($0)
            }
            for (share, expected) in zip(shares, [50.0, 50, 25, 25]) {
                #expect(abs(share - expected) < 2, "\(text)")
            }
            try await browser.wait(
                until: "Math.abs(parseInt(document.querySelector('#result-facts dd').textContent) - 600) < 25"
            )

            try await browser.press(.left)
            try await browser.wait(
                until: "document.querySelector('#transform-text').value !== arguments[0]", .string(text))
            try await browser.click("#undo")
            try await browser.waitForPipeline("resize:800x")
        }
    }

    @Test("A focal point that is dragged makes the resize cut around it")
    func focalPoint() async throws {
        try await browser.visit(daemon.address) {
            try await browser.click("#tool-focal")
            let width =
                try await browser.run("return document.querySelector('#overlay').offsetWidth").whole ?? 0

            try await browser.drag("#focal-point", by: [(-width / 8, 0), (-width / 8, 0)])

            try await browser.wait(
                until:
                    "/^resize:800x800:cover:gravity=focal:fx=0.2[45678]\\d*:fy=0[.]5/.test(document.querySelector('#transform-text').value)"
            )
            try await browser.waitForResult("800 × 800")
            try await browser.press(.down)
            try await browser.wait(until: "/fy=0.52/.test(document.querySelector('#transform-text').value)")
            let text =
                try await browser.run("return document.querySelector('#transform-text').value").text ?? ""
            #expect(text.hasPrefix("resize:800x800:cover:gravity=focal:fx=0.2"), "\(text)")
        }
    }

    @Test("Another proxy's URL is translated, and one of ours is taken apart")
    func foreign() async throws {
        try await browser.visit(daemon.address) {
            try await browser.type(
                "https://thumbor.example/unsafe/300x200/filters:quality(40)/\(daemon.photo)", into: "#source")
            try await browser.press(.enter)
            try await browser.wait(until: "!document.querySelector('#translation').hidden")
            #expect(try await browser.text("#translation").contains("This is a URL of thumbor"))
            #expect(try await browser.text("#translated").contains("resize:300x200:cover"))

            try await browser.click("#use-translation")
            try await browser.waitForResult("300 × 200")
            #expect(
                try await browser.run("return document.querySelector('#source').value").text == daemon.photo)

            try await browser.type(
                "\(daemon.address)/img?url=\(daemon.photo)&transform=resize:120x", into: "#source")
            try await browser.press(.enter)
            try await browser.waitForResult("120 × 80")
        }
    }

    @Test("A file that is dropped is sent, and a URL that is dropped is fetched")
    func drop() async throws {
        let script = """
            return fetch(arguments[0]).then((r) => r.blob()).then((blob) => {
              const data = new DataTransfer();
              data.items.add(new File([blob], "my photo.jpg", { type: "image/jpeg" }));
              for (const kind of ["dragenter", "dragover", "drop"])
                document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
            });
            """
        try await browser.visit(daemon.address) {
            try await browser.run(
                script, .string("/img?url=\(daemon.photo)&transform=resize:500x&format=jpeg"))
            try await browser.waitForResult("500 × 333")
            #expect(try await browser.text("#file-name").hasPrefix("my photo.jpg"))
            #expect(try await browser.text("#cache-status") == "not stored")
            try await browser.wait(
                until: "document.querySelector('#source-facts dd')?.textContent === '500 × 333'")
            #expect(try await browser.text("#copy-code").hasPrefix("A file has no URL."))
            #expect(try await browser.run("return document.querySelector('#copy').disabled") == .bool(true))
            try await browser.click("#copy-curl")
            try await browser.wait(
                until:
                    "document.querySelector('#copy-code').textContent.includes(\"--data-binary '@my photo.jpg' -o 'my photo-result.avif'\")"
            )
            try await browser.click("#drop-file")
            try await browser.waitForResult("800 × 533")

            try await browser.run(
                """
                const data = new DataTransfer();
                data.setData("text/uri-list", arguments[0]);
                document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
                """, .string("\(daemon.photo)?again"))
            try await browser.wait(until: "document.querySelector('#source').value.endsWith('?again')")
            try await browser.wait(until: WebDriver.isShown)
        }
    }
}
