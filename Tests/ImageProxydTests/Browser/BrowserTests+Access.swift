// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

/// Accessibility: contrast, phones, keys, screen readers, little motion.
extension BrowserTests {
    /// Texts whose contrast with what is behind them is below 4.5, or 3 where they are large (WCAG 2.2 §1.4.3).
    private static let weakTexts = """
        const parse = (text) => { const n = text.match(/[\\d.]+/g).map(Number); return { rgb: n.slice(0, 3), alpha: n[3] ?? 1 }; };
        const over = (top, below) => top.rgb.map((value, i) => value * top.alpha + below[i] * (1 - top.alpha));
        const behind = (element) => {
          const layers = [];
          for (let e = element; e; e = e.parentElement) {
            const color = parse(getComputedStyle(e).backgroundColor);
            layers.push(color);
            if (color.alpha === 1) break;
          }
          return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
        };
        const light = (rgb) => rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
          .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
        const ratio = (a, b) => { const [x, y] = [light(a), light(b)].toSorted((m, n) => n - m); return (x + 0.05) / (y + 0.05); };
        const isShown = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length
          && !e.closest(":disabled, .visually-hidden, .skip, [aria-hidden=true], .outdated, option");
        const check = (e, style, text) => {
          const ground = behind(e);
          const value = ratio(over(parse(style.color), ground), ground);
          const isLarge = parseFloat(style.fontSize) >= 24 || parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700;
          return value < (isLarge ? 3 : 4.5) ? [`${text.trim().slice(0, 30)} ${value.toFixed(2)} ${e.tagName}.${e.className}`] : [];
        };
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const weak = [];
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
          const e = node.parentElement;
          if (node.data.trim() && isShown(e)) weak.push(...check(e, getComputedStyle(e), node.data));
        }
        for (const e of document.querySelectorAll("input[placeholder]")) {
          if (isShown(e)) weak.push(...check(e, getComputedStyle(e, e.value ? "" : "::placeholder"), e.value || e.placeholder));
        }
        return weak;
        """

    private func expectContrast() async throws {
        // Colours that change do so for a moment.
        try await browser.wait(
            until: "document.getAnimations().every((a) => a.playState !== 'running' || a.animationName)")
        let weak = try await browser.run(Self.weakTexts)
        #expect(weak == .array([]), "\(weak.compact)")
    }

    @Test("Every text has enough contrast, light and dark", arguments: [false, true])
    func contrast(isDark: Bool) async throws {
        try await browser.visit(daemon.address, on: isDark ? .dark : .desktop, expecting: ["status of 400"]) {
            let ground = try await browser.run("return getComputedStyle(document.body).backgroundColor").text
            #expect(ground == (isDark ? "rgb(14, 16, 22)" : "rgb(245, 246, 249)"))
            try await expectContrast()

            try await browser.click("#add-operation")
            try await expectContrast()
            try await browser.press(.escape)
            try await browser.click("#tool-crop")
            try await browser.click("#tab-slider")
            try await expectContrast()
            try await browser.click("#tab-grid")
            try await browser.click("#measure")
            try await browser.wait(until: "document.querySelector('.variant.best')")
            try await expectContrast()
            try await browser.type("https://wsrv.nl/?url=example.com/a.jpg&w=300", into: "#source")
            try await browser.press(.enter)
            try await browser.wait(until: "!document.querySelector('#translation').hidden")
            try await browser.type("x", into: "[data-parameter=size] input")
            try await browser.wait(until: "!document.querySelector('#problem').hidden")
            try await expectContrast()
        }
    }

    @Test("The colours can be chosen, whatever the system says, and stay chosen")
    func colours() async throws {
        let ground = "return getComputedStyle(document.body).backgroundColor"

        try await browser.visit(daemon.address, on: .dark) {
            try await browser.click("[data-theme-switch]")
            #expect(try await browser.run(ground).text == "rgb(245, 246, 249)")
        }
        try await browser.visit(daemon.address, on: .dark) {
            #expect(try await browser.run(ground).text == "rgb(245, 246, 249)")
            try await browser.run("localStorage.clear()")
        }
    }

    @Test(
        "A phone of 360 pixels shows all of it without scrolling sideways, and its buttons are large enough")
    func phone() async throws {
        try await browser.visit(daemon.address, on: .phone, expecting: ["status of 400"]) {
            try await expectNoHorizontalScroll()
            for operation in ["crop", "text", "round"] {
                try await browser.add(operation)
                try await expectNoHorizontalScroll()
            }
            try await browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
            try await expectNoHorizontalScroll()
            for view in ["slider", "grid"] {
                try await browser.click("#tab-\(view)")
                try await expectNoHorizontalScroll()
            }
            try await browser.click("#copy-picture")
            try await browser.type("x", into: "[data-parameter=size] input")
            try await browser.wait(until: "!document.querySelector('#problem').hidden")
            try await expectNoHorizontalScroll()
            // WCAG 2.2 §2.5.8.
            let small = try await browser.run(
                """
                return [...document.querySelectorAll("button, select, input:not([type=checkbox], [type=file])")].filter((e) => {
                  const { width, height } = e.getBoundingClientRect();
                  return e.checkVisibility() && !e.closest(".skip") && (width < 24 || height < 24);
                }).map((e) => e.outerHTML.slice(0, 80));
                """)
            #expect(small == .array([]), "\(small.compact)")
        }
    }

    @Test("Fingers move an operation, too")
    func touch() async throws {
        try await browser.visit(daemon.address, on: .phone) {
            try await browser.add("flip")
            try await browser.waitForPipeline("resize:800x,flip:h")
            let grip = "[data-operation=flip] .grip"
            try await browser.run(
                "document.querySelector(arguments[0]).scrollIntoView({ block: 'end' })", .string(grip))
            try await browser.drag(grip, by: [(0, -60), (0, -120), (0, -60)], with: "touch")

            try await browser.waitForPipeline("flip:h,resize:800x")
            #expect(try await browser.operations() == .strings(["flip", "resize"]))
        }
    }

    @Test("With reduced motion there are no animations")
    func motion() async throws {
        let moving = """
            document.querySelector("[data-operation=flip] .grip").dispatchEvent(
              new KeyboardEvent("keydown", { key: arguments[0], bubbles: true, cancelable: true }));
            return document.getAnimations().filter((a) => a.effect.target?.closest("#operations") && !a.transitionProperty).length;
            """
        for (screen, isCalm) in [(Screen.desktop, false), (.calm, true)] {
            try await browser.visit(daemon.address, on: screen) {
                try await browser.add("flip")
                try await browser.waitForPipeline("resize:800x,flip:h")
                let count = try await browser.run(moving, "ArrowUp").whole ?? -1
                #expect(isCalm ? count == 0 : count > 0)
                try await browser.waitForPipeline("flip:h,resize:800x")
            }
        }
    }

    @Test("Everything that can be used has a name, ids are unique, and what labels name is there")
    func names() async throws {
        try await browser.visit(daemon.address) {
            try await browser.add("text")
            try await browser.run("for (const d of document.querySelectorAll('details')) d.open = true")
            let faults = try await browser.run(
                """
                const text = (e) => (e.getAttribute("aria-label") ?? "").trim() || [...e.labels ?? []].map((l) => l.textContent).join("").trim()
                  || (e.matches("button, a, summary, [role=tab]") ? (e.textContent.trim() || e.querySelector("img[alt]")?.alt || "") : "");
                const unnamed = [...document.querySelectorAll("button, a[href], input, select, summary, [tabindex='0']")]
                  .filter((e) => e.checkVisibility() && e.ariaHidden !== "true" && !text(e) && !e.getAttribute("aria-labelledby"));
                const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
                const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
                const lost = ["aria-labelledby", "aria-describedby", "aria-controls", "for"].flatMap((name) =>
                  [...document.querySelectorAll(`[${name}]`)].flatMap((e) => e.getAttribute(name).split(" ").filter((id) => !ids.includes(id))));
                const headings = [...document.querySelectorAll("h1")].length;
                return [...unnamed.map((e) => e.outerHTML.slice(0, 90)), ...twice, ...lost, ...(headings === 1 ? [] : [`${headings} h1`])];
                """)
            #expect(faults == .array([]), "\(faults.compact)")
        }
    }

    @Test(
        "The keyboard reaches everything in the order of the page, and leaves the dialog where it came from")
    func order() async throws {
        let next = "return document.activeElement.id || document.activeElement.className"

        try await browser.visit(daemon.address) {
            try await browser.run("document.activeElement.blur()")
            var reached: [String] = []
            while reached.last != "copy-base", reached.count < 80 {
                try await browser.press(.tab)
                reached.append(try await browser.run(next).text ?? "")
            }
            let wanted = [
                "skip", "source", "choose-file", "sample", "tool-crop", "add-operation", "transform-text",
                "copy-url", "copy",
                "copy-base",
            ]
            let places = wanted.map { reached.firstIndex(of: $0) ?? -1 }
            #expect(!places.contains(-1), "\(reached)")
            #expect(places == places.sorted(), "\(reached)")

            try await browser.run("document.querySelector('#tab-side').focus()")
            try await browser.press(.right)
            #expect(try await browser.run(next).text == "tab-slider")
            #expect(
                try await browser.run("return document.querySelector('#view-slider').hidden") == .bool(false))

            try await browser.click("#add-operation")
            try await browser.press(.escape)
            try await browser.wait(until: "!document.querySelector('#picker').open")
            #expect(try await browser.run(next).text == "add-operation")
        }
    }
}
