// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport
import Testing

/// A daemon that a browser reaches, with a photo of 1200 × 800 pixels as the playground's sample.
struct PlaygroundDaemon: Sendable {
    let proxy: Proxy
    /// The daemon's address, such as `http://127.0.0.1:40000`.
    let address: String
    /// That of the admin listener.
    let adminAddress: String

    /// The URL of the sample.
    var photo: String { proxy.origin.url("/photo.jpg") }

    /// - Parameters:
    ///   - settings: further members of the configuration's object.
    ///   - security: members of `security`.
    init(
        settings: String = "", security: String = #""allowUploads": true"#,
        in folder: TemporaryDirectory? = nil
    ) async throws {
        let origin = try FakeOrigin()
        origin.route("/photo.jpg", .body(Fixtures.photo))
        let sample = #""playgroundSamples": ["\#(origin.url("/photo.jpg"))"]"#
        proxy = try await Proxy(
            settings: sample + (settings.isEmpty ? "" : ", ") + settings, security: security, in: folder,
            origin: origin,
            environment: [
                "IMAGEPROXYD_LISTEN=127.0.0.1:0", "IMAGEPROXYD_ADMIN_LISTEN=127.0.0.1:0",
                "IMAGEPROXYD_LOG_FORMAT=text",
            ])
        address = try Self.address(after: "listening on ", in: proxy.daemon.log)
        adminAddress = try Self.address(after: "admin on ", in: proxy.daemon.log)
    }

    /// Sends a request to the public listener.
    func get(_ target: String) async throws -> RawHTTPClient.Answer {
        let port = try #require(address.split(separator: ":").last.flatMap { UInt16($0) })
        return try await onThread {
            let client = try RawHTTPClient(port: port)
            defer { client.hangUp() }
            try client.send("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
            return try client.answer()
        }
    }

    private static func address(after words: String, in log: String) throws -> String {
        let line = try #require(log.split(separator: "\n").first { $0.contains(words) }, "\(log)")
        let rest = try #require(line.firstRange(of: words).map { line[$0.upperBound...] })
        return "http://" + rest.prefix { $0 != " " }
    }
}

/// How a page is looked at.
struct Screen {
    var width = 1_280
    var height = 900
    /// Media features, such as `prefers-color-scheme`.
    var media: KeyValuePairs<String, String> = [:]

    static let desktop = Screen()
    static let phone = Screen(width: 360, height: 740)
    static let dark = Screen(media: ["prefers-color-scheme": "dark"])
    static let calm = Screen(media: ["prefers-reduced-motion": "reduce"])
}

extension WebDriver {
    /// Opens a page of a daemon, and checks afterwards that nothing but what is expected came to the console, and that
    /// no other host was asked.
    ///
    /// - Parameters:
    ///   - address: the daemon's.
    ///   - path: the page's.
    ///   - expected: what messages of the console may contain.
    ///   - readiness: when the page is ready.
    func visit(
        _ address: String, _ path: String = "/", on screen: Screen = .desktop,
        expecting expected: [String] = [],
        when readiness: String = WebDriver.isShown, _ work: () async throws -> Void
    ) async throws {
        try await open("about:blank")
        let isPhone = screen.width < 600
        try await devTools(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .integer(screen.width), "height": .integer(screen.height),
                "deviceScaleFactor": .integer(isPhone ? 2 : 1), "mobile": .bool(isPhone),
            ])
        let features = screen.media.map {
            ["name": .string($0.key), "value": .string($0.value)] as JSONValue
        }
        try await devTools("Emulation.setEmulatedMedia", ["features": .array(features)])
        _ = (try await console(), try await requests())
        try await open(address + path)
        try await wait(until: readiness)
        try await work()
        let complaints = try await console().filter { message in
            !expected.contains { message.contains($0) }
        }
        let others = try await requests().filter { url in
            !["\(address)/", "blob:\(address)/", "data:"].contains { url.hasPrefix($0) }
        }
        #expect(complaints.isEmpty && others.isEmpty, "\(complaints) \(others)")
    }

    /// The playground has loaded, and shows a result.
    static let isShown =
        "document.documentElement.dataset.ready && !document.querySelector('#stage[aria-busy]')"
        + " && document.querySelector('#result-facts dd') && document.querySelector('#source-facts dd')"

    /// Waits until the result has a size, such as `300 × 200`.
    func waitForResult(_ size: String) async throws {
        try await wait(
            until: "document.querySelector('#result-facts dd')?.textContent === arguments[0]"
                + " && !document.querySelector('#stage[aria-busy]')", .string(size))
    }

    /// Waits until the pipeline is this text.
    func waitForPipeline(_ text: String) async throws {
        try await wait(
            until: "document.querySelector('#transform-text').value === arguments[0]", .string(text))
    }

    /// The names of the operations as they are shown, from top to bottom.
    func operations() async throws -> JSONValue {
        try await run(
            "return [...document.querySelectorAll('.grip')].map((e) => e.closest('[data-operation]').dataset.operation)"
        )
    }

    /// Adds an operation by its name.
    func add(_ operation: String) async throws {
        try await click("#add-operation")
        try await type(operation, into: "#picker-search")
        try await press(.enter)
    }
}
