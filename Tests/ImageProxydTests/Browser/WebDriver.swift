// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport

/// A client of a browser's driver (W3C WebDriver): Debian's chromium without a window.
final class WebDriver: Sendable {
    /// The driver answered with an error.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// An element of a page (WebDriver §12).
    struct Element: Sendable {
        fileprivate static let key = "element-6066-11e4-a52e-4f735466cecf"
        let id: String
        /// As an argument of a script, or where a pointer begins.
        var json: JSONValue { [Self.key: .string(id)] }
    }

    /// Whether the machine has the browser and its driver.
    static var isInstalled: Bool {
        OtherProgram.path(of: "chromium") != nil && OtherProgram.path(of: "chromedriver") != nil
    }

    private let driver: BackgroundProgram
    private let port: UInt16
    private let session: String
    private let folder: TemporaryDirectory

    /// Starts driver and browser.
    init() async throws {
        folder = try TemporaryDirectory()
        (driver, port) = try await Self.startDriver(in: folder.path)
        let answer = try await Self.send("POST", "/session", Self.capabilities, to: port)
        guard case .string(let session)? = answer["sessionId"] else {
            throw Failure(description: "no session: \(answer.compact)")
        }
        self.session = "/session/\(session)"
        try await command("POST", "/timeouts", ["script": 120_000, "pageLoad": 120_000, "implicit": 0])
    }

    /// The driver wants one port for both versions of IP, and ends if the one that it chose is taken in the other: then
    /// it is started again.
    private static func startDriver(in folder: String) async throws -> (BackgroundProgram, UInt16) {
        for _ in 0..<10 {
            let driver = try BackgroundProgram(
                "/usr/bin/chromedriver", ["--port=0"],
                environment: ["PATH": "/usr/bin:/bin", "HOME": folder, "TMPDIR": folder])
            let line = try await driver.firstLine(
                matching: #/(started successfully on port \d+|not available)/#)
            if let port = UInt16(line.split(separator: " ").last ?? "") { return (driver, port) }
        }
        throw Failure(description: "chromedriver found no port")
    }

    /// Chromium's own sandbox does not start as root. The pipe ends the browser with its driver, however that ends.
    private static let capabilities: JSONValue = [
        "capabilities": [
            "alwaysMatch": [
                "goog:chromeOptions": [
                    "args": .strings([
                        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                        "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking",
                        "--disable-component-update", "--window-size=1280,900",
                    ])
                ],
                "goog:loggingPrefs": ["browser": "ALL", "performance": "ALL"],
            ]
        ]
    ]

    /// Ends the browser.
    func quit() async throws {
        _ = try await Self.send("DELETE", session, nil, to: port)
    }

    // MARK: - Commands

    /// Sends a command about the session and returns the answer's value.
    @discardableResult
    func command(_ method: String, _ path: String, _ content: JSONValue? = nil) async throws -> JSONValue {
        try await Self.send(method, session + path, content, to: port)
    }

    private static func send(
        _ method: String, _ path: String, _ content: JSONValue?, to port: UInt16
    ) async throws -> JSONValue {
        let answer = try await onThread {
            let client = try RawHTTPClient(port: port)
            defer { client.hangUp() }
            let body = Array((content?.compact ?? "").utf8)
            try client.send(
                "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
                    + "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n")
            if !body.isEmpty { try client.send(bytes: body) }
            return try client.answer()
        }
        var parser = JSONParser(answer.body)
        guard let value = try? parser.parse()["value"] else {
            throw Failure(description: "\(method) \(path): \(answer.text)")
        }
        guard answer.status == 200 else {
            throw Failure(description: "\(method) \(path): \(value["message"]?.text ?? value.compact)")
        }
        return value
    }

    /// Sends a command of the browser's own protocol (Chrome DevTools).
    @discardableResult
    func devTools(_ name: String, _ parameters: JSONValue = [:]) async throws -> JSONValue {
        try await command("POST", "/goog/cdp/execute", ["cmd": .string(name), "params": parameters])
    }

    func open(_ url: String) async throws {
        try await command("POST", "/url", ["url": .string(url)])
    }

    /// Runs a script in the page; what it returns, also by a promise.
    @discardableResult
    func run(_ script: String, _ arguments: JSONValue...) async throws -> JSONValue {
        try await command("POST", "/execute/sync", ["script": .string(script), "args": .array(arguments)])
    }

    /// Waits in the page until an expression is true, looked at with each frame that is drawn; its value.
    ///
    /// - Throws: after two minutes, with what the page shows then.
    @discardableResult
    func wait(until expression: String, _ arguments: JSONValue...) async throws -> JSONValue {
        let script = """
            const done = arguments[arguments.length - 1];
            const value = () => { try { return \(expression); } catch { return null; } };
            const look = () => { const found = value(); if (found) done(found); else requestAnimationFrame(look); };
            look();
            """
        do {
            return try await command(
                "POST", "/execute/async", ["script": .string(script), "args": .array(arguments)])
        } catch {
            let text = try await run("return document.body.innerText.slice(0, 1500)")
            throw Failure(description: "not met: \(expression)\n\(error)\n\(text.text ?? "")")
        }
    }

    // MARK: - Elements

    func element(_ selector: String) async throws -> Element {
        let found = try await command(
            "POST", "/element", ["using": "css selector", "value": .string(selector)])
        guard let id = found[Element.key]?.text else { throw Failure(description: "no \(selector)") }
        return Element(id: id)
    }

    func click(_ selector: String) async throws {
        try await command("POST", "/element/\(try await elementAtRest(selector).id)/click", [:])
    }

    /// An element that is in view and has kept its place for some frames: the driver finds out where it is, and only
    /// then moves the pointer there. Cards slide, the page scrolls smoothly, and a result changes the page's height.
    @discardableResult
    func elementAtRest(_ selector: String) async throws -> Element {
        let element = try await element(selector)
        let script = """
            const [element, done] = arguments;
            element.scrollIntoView({ block: "nearest", behavior: "instant" });
            const place = () => {
              const { x, y, width, height } = element.getBoundingClientRect();
              return [x, y, width, height].join();
            };
            const isBusy = () => document.querySelector("#stage[aria-busy]") !== null;
            let before = "", frames = 0;
            const look = () => {
              const now = place();
              frames = now === before && !isBusy() ? frames + 1 : 0;
              before = now;
              if (frames < 5) requestAnimationFrame(look); else done(true);
            };
            look();
            """
        try await command(
            "POST", "/execute/async", ["script": .string(script), "args": .array([element.json])])
        return element
    }

    /// Replaces the text of a field by typing.
    func type(_ text: String, into selector: String) async throws {
        let id = try await element(selector).id
        try await run("arguments[0].focus(); arguments[0].select()", Element(id: id).json)
        try await command("POST", "/element/\(id)/value", ["text": .string(text)])
    }

    func text(_ selector: String) async throws -> String {
        try await run("return document.querySelector(arguments[0]).textContent", .string(selector)).text ?? ""
    }

    // MARK: - Keys and pointer

    /// Presses keys one after the other while `holding` are down.
    func press(_ keys: Key..., holding: [Key] = []) async throws {
        func action(_ kind: String, _ key: Key) -> JSONValue {
            ["type": .string(kind), "value": .string(key.rawValue)]
        }
        let held = holding.map { action("keyDown", $0) }
        let pressed = keys.flatMap { [action("keyDown", $0), action("keyUp", $0)] }
        let released = holding.map { action("keyUp", $0) }
        try await perform(["type": "key", "id": "keyboard", "actions": .array(held + pressed + released)])
    }

    /// Drags by offsets from the middle of an element, in CSS pixels, with a mouse or a finger (`touch`).
    func drag(
        _ selector: String, from start: (x: Int, y: Int) = (0, 0), by steps: [(x: Int, y: Int)],
        with pointer: String = "mouse"
    ) async throws {
        let origin = try await elementAtRest(selector).json
        let first: JSONValue = [
            "type": "pointerMove", "duration": 0, "origin": origin, "x": .integer(start.x),
            "y": .integer(start.y),
        ]
        let moves = steps.map { step -> JSONValue in
            [
                "type": "pointerMove", "duration": 30, "origin": "pointer", "x": .integer(step.x),
                "y": .integer(step.y),
            ]
        }
        let actions: [JSONValue] =
            [first, ["type": "pointerDown", "button": 0]] + moves + [["type": "pointerUp", "button": 0]]
        try await perform([
            "type": "pointer", "id": .string(pointer), "parameters": ["pointerType": .string(pointer)],
            "actions": .array(actions),
        ])
    }

    private func perform(_ input: JSONValue) async throws {
        try await command("POST", "/actions", ["actions": .array([input])])
        try await command("DELETE", "/actions")
    }

    // MARK: - Records

    /// What the page has written to the console since the last call, and what the browser complained of.
    func console() async throws -> [String] {
        try await log("browser").compactMap { $0["message"]?.text }
    }

    /// The URLs that have been requested since the last call.
    func requests() async throws -> [String] {
        try await log("performance").compactMap { entry in
            guard let text = entry["message"]?.text else { return nil }
            var parser = JSONParser(Array(text.utf8))
            // Ignored: an event that is no JSON, which would be the driver's fault.
            guard let message = try? parser.parse()["message"],
                message["method"]?.text == "Network.requestWillBeSent"
            else { return nil }
            return message.inside(["params", "request", "url"])?.text
        }
    }

    private func log(_ kind: String) async throws -> [JSONValue] {
        guard case .array(let entries) = try await command("POST", "/se/log", ["type": .string(kind)]) else {
            throw Failure(description: "no log \(kind)")
        }
        return entries
    }
}

extension WebDriver {
    /// A key (WebDriver §15.4.2).
    enum Key: String {
        case tab = "\u{E004}"
        case enter = "\u{E007}"
        case shift = "\u{E008}"
        case control = "\u{E009}"
        case escape = "\u{E00C}"
        case left = "\u{E012}"
        case up = "\u{E013}"
        case right = "\u{E014}"
        case down = "\u{E015}"
        case z
    }
}

extension JSONValue {
    /// The values of a list; none for another value.
    var values: [JSONValue] {
        guard case .array(let values) = self else { return [] }
        return values
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .integer(value) }
}
