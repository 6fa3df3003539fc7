// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("top")
struct TopTests {
    private static func top(
        _ proxy: Proxy, _ arguments: String...
    ) async throws -> OtherProgram.Outcome {
        let admin = "unix:\(proxy.folder.path)/cache/admin.sock"
        return try await OtherProgram.run(
            DaemonProcess.executable, ["top", "--once", "--admin", admin] + arguments)
    }

    @Test("--once prints what the daemon does, without anything that only a terminal understands")
    func once() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo))
        for _ in 1...2 { _ = try await proxy.get(proxy.target("/photo.jpg", "transform=resize:10x")) }
        _ = try await proxy.get(proxy.target("/missing.jpg"))

        let outcome = try await Self.top(proxy)

        #expect(outcome.code == 0 && outcome.errors.isEmpty)
        #expect(outcome.output.hasPrefix("imageproxyd \(Version.current), up "))
        for heading in [
            "HOST ", "SLOW TRANSFORM ", "FAILURE ", "workers: ", "upstream_not_found ",
        ] {
            #expect(outcome.output.contains(heading), "\(heading)")
        }
        #expect(!outcome.output.contains("\u{1B}"))
    }

    @Test("--json prints the daemon's numbers with rates, on one line")
    func json() async throws {
        let proxy = try await Proxy()

        let outcome = try await Self.top(proxy, "--json")

        #expect(outcome.output.split(separator: "\n").count == 1)
        var parser = JSONParser(Array(outcome.output.utf8))
        let object = try parser.parse()
        #expect(object.text("version") == Version.current)
        #expect(object.inside(["rates", "hitRatio"]) == .null)
        #expect(object.inside(["rates", "requestsPerSecond"]) == .number(0))
    }

    @Test("It finds the admin listener by the settings, and needs its token")
    func settings() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array("0123456789abcdef\n".utf8), to: "token")
        let proxy = try await Proxy(
            settings: #""admin": {"token": "\#(folder.path)/token"}"#, in: folder)

        let known = try await OtherProgram.run(
            DaemonProcess.executable, ["top", "--once", "--config", proxy.folder.path + "/config.json"])
        let unknown = try await Self.top(proxy)
        let given = try await Self.top(proxy, "--token", folder.path + "/token")

        #expect(known.code == 0 && given.code == 0, "\(known.errors) \(given.errors)")
        #expect(unknown.code == 1 && unknown.errors.contains("requires its admin token: --token FILE"))
    }

    @Test("Where no daemon listens it says so, and where")
    func unreachable() async throws {
        let outcome = try await OtherProgram.run(
            DaemonProcess.executable, ["top", "--once", "--admin", "unix:/nonexistent/admin.sock"])
        let wrong = try await OtherProgram.run(DaemonProcess.executable, ["top", "--admin", "nowhere"])

        #expect(outcome.code == 1)
        #expect(outcome.errors.contains("no daemon answers at unix:/nonexistent/admin.sock: No such file"))
        #expect(wrong.code == 64 && wrong.errors.contains("'nowhere' is no address"))
    }

    // MARK: - Numbers

    private static func sample(
        at milliseconds: Int, started: Int = 5, memory: Int = 0, miss: Int = 0, counts: [Int] = [0, 0, 0]
    ) -> JSONValue {
        [
            "milliseconds": .integer(milliseconds), "started": .integer(started),
            "bytes": .integer(memory * 10),
            "answers": ["memory": .integer(memory), "miss": .integer(miss)],
            "latency": [
                "microseconds": .array([.integer(100), .integer(1_000)]),
                "counts": .array(counts.map { .integer($0) }),
            ],
        ]
    }

    @Test("Counters become rates, shares and quantiles of the last minute")
    func rates() {
        var window = StatsWindow()
        window.add(Self.sample(at: 0, memory: 1_000_000))
        window.add(Self.sample(at: 100_000, memory: 10, miss: 10, counts: [5, 5, 0]))
        window.add(Self.sample(at: 110_000, memory: 310, miss: 110, counts: [205, 205, 0]))

        #expect(window.seconds == 10 && window.requests == 400)
        #expect(window.rate(window.requests) == 40 && window.rate(window.growth("bytes")) == 300)
        #expect(window.share("memory") == 0.75)
        #expect(window.quantile(0.25) == 50 && window.quantile(0.75) == 550)
    }

    @Test("A daemon that was started again begins anew; without requests there is no share")
    func restart() {
        var window = StatsWindow()
        window.add(Self.sample(at: 1_000, memory: 5))
        window.add(Self.sample(at: 2_000, started: 7, memory: 1))

        #expect(!window.hasRates && window.share("memory") == nil && window.quantile(0.5) == nil)
    }

    @Test("What origins and clients choose can't control the terminal")
    func printable() {
        #expect(TopScreen.printable("a\u{1B}[2Jb\u{202E}c\n\u{9B}é") == "a?[2Jb?c??é")
        let event: JSONValue = [
            "recent": [
                "failures": .array([["code": .string("tls_failed"), "reason": .string("\u{1B}]0;x\u{7}")]])
            ]
        ]
        var window = StatsWindow()
        window.add(event)

        let lines = TopScreen(window: window).lines(at: 0).map(\.text)

        #expect(lines.contains { $0.hasSuffix("?]0;x?") } && !lines.joined().contains("\u{1B}"))
    }
}
