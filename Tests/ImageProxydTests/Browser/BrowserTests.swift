// SPDX-License-Identifier: Apache-2.0

import Imaging
import Primitives
import TestSupport
import Testing

/// The pages as people see them: a real browser, a real daemon, a real origin.
@Suite(
    "The pages in a browser", .serialized,
    .enabled(if: WebDriver.isInstalled, "chromium and chromium-driver are not installed"), .oneBrowser)
struct BrowserTests {
    let browser: WebDriver
    /// Takes uploads, and needs no signatures.
    let daemon: PlaygroundDaemon

    init() throws {
        browser = try #require(BrowserTrait.browser)
        daemon = try #require(BrowserTrait.daemon)
    }

    @Test("The playground shows the sample and its result, with what is known of both")
    func load() async throws {
        try await browser.visit(daemon.address) {
            let source = try await browser.text("#source-facts")
            let result = try await browser.text("#result-facts")

            #expect(source.contains("1200 × 800") && source.contains("88 kB") && source.contains("JPEG"))
            #expect(result.contains("800 × 533") && result.contains("AVIF") && result.contains("−"))
            #expect(try await browser.text("#time").hasSuffix(" ms"))
            #expect(try await browser.run("return document.querySelectorAll('.sample img').length") == 1)

            try await browser.click("#again")
            try await browser.wait(
                until: "document.querySelector('#cache-status').textContent === 'hit, memory'")
            let hash = try await browser.run("return location.hash").text
            #expect(hash?.hasSuffix("photo.jpg&transform=resize:800x") == true)
        }
    }

    @Test("A page that is loaded again shows what it showed")
    func restored() async throws {
        let source = daemon.photo.replacing(":", with: "%3A").replacing("/", with: "%2F")
        let hash = "#url=\(source)&transform=resize:300x200:cover,flip:h&format=png&dpr=2"

        try await browser.visit(daemon.address, "/\(hash)") {
            try await browser.waitForResult("600 × 400")
            #expect(try await browser.text("#result-facts").contains("PNG"))
            #expect(try await browser.run("return document.querySelectorAll('.operation').length") == 2)
            #expect(try await browser.run("return location.hash").text == hash)
        }
    }

    @Test("Where only signed URLs are answered, the admin listener's page signs what it tries")
    func signed() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array("0123456789abcdef".utf8), to: "key")
        let guarded = try await PlaygroundDaemon(
            security: #""keys": ["\#(folder.path)/key"]"#, in: folder)

        try await browser.visit(guarded.adminAddress) {
            #expect(try await browser.text("#result-facts").contains("800 × 533"))
            #expect(try await browser.text("#copy-code").contains("&sig="))
            let linkIsHidden = try await browser.run("return document.querySelector('#stats-link').hidden")
            #expect(linkIsHidden == .bool(false))
        }
        let ready = "document.documentElement.dataset.ready"
        try await browser.visit(guarded.address, when: ready) {
            let notice = try await browser.text("#notice")
            let workspaceIsHidden = try await browser.run(
                "return document.querySelector('#workspace').hidden")
            #expect(notice.contains("Only signed URLs are answered here") && workspaceIsHidden == .bool(true))
        }
    }

    @Test("Where only presets are permitted, the page offers these and requests nothing else")
    func presets() async throws {
        let presets =
            #""presets": {"small": {"transform": "resize:90x60"}, "wide": {"transform": "resize:600x"}}"#
        let limited = try await PlaygroundDaemon(settings: presets, security: #""onlyPresets": true"#)

        try await browser.visit(limited.address) {
            try await browser.waitForResult("90 × 60")
            try await browser.run(
                """
                const select = document.querySelector("[data-output=preset] select");
                select.value = "wide";
                select.dispatchEvent(new Event("change"));
                """)
            try await browser.waitForResult("600 × 400")
            let shown = try await browser.run(
                "return document.querySelector('#pipeline-card').checkVisibility()")
            #expect(shown == .bool(false))
        }
    }

    @Test(
        "A result that the browser does not show still has its bytes and its URL, and another address is followed"
    )
    func otherFormats() async throws {
        try await browser.visit(daemon.address) {
            try await browser.run("location.hash += '&format=tiff'")
            try await browser.wait(
                until:
                    "document.querySelector('#result-nothing').textContent === 'This browser does not show TIFF'"
            )
            let facts = try await browser.text("#result-facts")
            #expect(facts.contains("TIFF") && facts.contains("kB"))
            try await browser.run("location.hash = location.hash.replace('tiff', 'webp')")
            try await browser.waitForResult("800 × 533")
        }
    }

    @Test("The admin listener's page requests the token, and again if it is wrong")
    func token() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array("0123456789abcdef".utf8), to: "token")
        let daemon = try await PlaygroundDaemon(
            settings: #""admin": {"token": "\#(folder.path)/token"}"#, in: folder)

        let asks = "!document.querySelector('#token').hidden"
        try await browser.visit(daemon.adminAddress, expecting: ["status of 401"], when: asks) {
            try await browser.type("wrong", into: "#token-field")
            try await browser.press(.enter)
            try await browser.wait(until: "!document.querySelector('#token-error').hidden && \(asks)")
            try await browser.type("0123456789abcdef", into: "#token-field")
            try await browser.press(.enter)
            try await browser.wait(until: WebDriver.isShown)
            let stillAsks = try await browser.run("return \(asks)")
            #expect(stillAsks == .bool(false))
            #expect(try await browser.text("#result-facts").contains("800 × 533"))
        }
    }

    @Test("The live view of the admin listener counts what is answered meanwhile")
    func liveView() async throws {
        let count = "Number(document.querySelector('.tile .more').textContent.match(/^[0-9]+/)?.[0] ?? 0)"
        let live = "document.querySelector('#state').textContent === 'live'"

        try await browser.visit(daemon.adminAddress, "/stats", when: "\(live) && \(count) >= 0") {
            let before = try await browser.run("return \(count)")
            for _ in 0..<3 { #expect(try await daemon.get("/img?url=\(daemon.photo)").status == 200) }
            try await browser.wait(until: "\(live) && \(count) >= arguments[0] + 3", before)
            #expect(
                try await browser.run("return document.querySelectorAll('.plot svg').length").whole ?? 0 >= 4)
        }
        try await browser.visit(daemon.adminAddress, "/stats", on: .phone, when: live) {
            try await expectNoHorizontalScroll()
        }
    }

    @Test("A page of the documentation is read without a complaint, on a desktop and a phone")
    func documents() async throws {
        let loaded = "document.querySelector('h1') && document.readyState === 'complete'"

        for screen in [Screen.desktop, .dark, .phone] {
            try await browser.visit(daemon.address, "/docs/caching.html", on: screen, when: loaded) {
                #expect(try await browser.text("h1") == "How pictures are cached")
                try await expectNoHorizontalScroll()
                let isListWide = try await browser.run(
                    "const list = document.querySelector('.pages'); return list.scrollWidth > list.clientWidth"
                )
                #expect(isListWide == .bool(false))
            }
        }
    }

    @Test("What a search finds is within the window", arguments: [320, 360, 600, 840, 1_280])
    func search(width: Int) async throws {
        let screen = Screen(width: width)
        try await browser.visit(daemon.address, "/docs/", on: screen, when: "document.querySelector('h1')") {
            try await browser.type("cache", into: "#query")
            try await browser.wait(until: "document.querySelector('#results a')")
            let edges = try await browser.run(
                """
                const { left, right } = document.querySelector("#results").getBoundingClientRect();
                return [left >= 0, right <= document.documentElement.clientWidth];
                """)
            #expect(edges == .array([.bool(true), .bool(true)]), "\(edges.compact)")
            try await expectNoHorizontalScroll()
        }
    }

    @Test("On a phone a table of several columns is as wide as the page, and each cell says what it is")
    func tables() async throws {
        let ready = "document.querySelector('table.labelled')"

        for page in ["configuration", "url"] {
            try await browser.visit(daemon.address, "/docs/\(page).html", on: .phone, when: ready) {
                let cut = try await browser.run(
                    "return [...document.querySelectorAll('.table')].filter((e) => e.scrollWidth > e.clientWidth).length"
                )
                #expect(cut == .integer(0))
                let label = try await browser.run(
                    "return getComputedStyle(document.querySelector('td[data-label]:nth-child(2)'), '::before').content"
                )
                #expect(label.text?.count ?? 0 > 4, "\(label.compact)")
                let overlap = try await browser.run(
                    """
                    const [brand, search] = [".brand", "search"].map((s) => document.querySelector(s).getBoundingClientRect());
                    return brand.right > search.left;
                    """)
                #expect(overlap == .bool(false))
            }
        }
    }

    func expectNoHorizontalScroll() async throws {
        let wider = try await browser.run(
            """
            const { clientWidth, scrollWidth } = document.documentElement;
            if (scrollWidth <= clientWidth) return [];
            return [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > clientWidth + 1)
              .map((e) => `${e.tagName}#${e.id}.${e.className}`).slice(0, 5).concat(`${scrollWidth} of ${clientWidth}`);
            """)
        #expect(wider == .array([]), "\(wider.compact)")
    }
}
