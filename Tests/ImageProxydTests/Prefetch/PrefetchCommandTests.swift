// SPDX-License-Identifier: Apache-2.0

import Glibc
import Primitives
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("prefetch, the command")
struct PrefetchCommandTests {
    /// Runs the command against a proxy.
    private static func prefetch(
        _ proxy: Proxy, _ arguments: String...
    ) async throws -> OtherProgram.Outcome {
        try await OtherProgram.run(DaemonProcess.executable, command(proxy) + arguments)
    }

    private static func command(_ proxy: Proxy) -> [String] {
        ["prefetch", "--config", proxy.folder.path + "/config.json", "--transform", "resize:20x"]
    }

    /// Runs a script in which `$prefetch` is the command.
    private static func shell(_ proxy: Proxy, _ script: String) async throws -> OtherProgram.Outcome {
        let line = ([DaemonProcess.executable] + command(proxy)).map { "'\($0)'" }.joined(separator: " ")
        return try await OtherProgram.run(
            "/bin/sh", ["-c", "prefetch=\"\(line)\"; cd '\(proxy.folder.path)'\n" + script],
            environment: ["PATH": "/usr/bin:/bin", "TMPDIR": proxy.folder.path])
    }

    private static func proxy() async throws -> Proxy { try await PrefetchTests.proxy(photos: 3) }

    private static func write(_ text: String, to name: String, of proxy: Proxy) throws -> String {
        try proxy.folder.write(Array(text.utf8), to: name)
        return "\(proxy.folder.path)/\(name)"
    }

    private static func lines(_ proxy: Proxy, _ paths: [String] = PrefetchTests.paths(3)) -> String {
        "# photos\n\n" + paths.map { "  " + proxy.origin.url($0) + "\r\n" }.joined()
    }

    @Test("A list is prefetched, and skipped the second time; the exit code is 0")
    func list() async throws {
        let proxy = try await Self.proxy()
        let list = try Self.write(Self.lines(proxy), to: "list.txt", of: proxy)

        let first = try await Self.prefetch(proxy, list)
        let second = try await Self.prefetch(proxy, list)

        #expect(first.code == 0 && first.errors.isEmpty, "\(first.errors)")
        // On a busy machine there are lines about its progress before the last one.
        let last = first.output.split(separator: "\n").last ?? ""
        #expect(last.hasPrefix("3 of 3 images: 3 made (") && last.contains("), 0 stored already"))
        #expect(second.code == 0 && second.output.contains("0 made (0 B), 3 stored already, 0 failed in "))
        #expect(!first.output.contains("\u{1B}"))
    }

    @Test("Failures are shown with reasons, and the exit code is 1")
    func failures() async throws {
        let proxy = try await Self.proxy()
        let list = try Self.write(
            Self.lines(proxy, ["/0.jpg", "/missing\u{1B}.jpg"]), to: "list.txt", of: proxy)

        let outcome = try await Self.prefetch(proxy, list, "--json")

        #expect(outcome.code == 1)
        var parser = JSONParser(Array(outcome.output.utf8))
        let object = try parser.parse()
        #expect(object.int("finished") == 1 && object.int("failed") == 1 && object.text("state") == "done")
        let text = try await Self.prefetch(proxy, list)
        #expect(text.errors.hasPrefix("1 failed: ") && !text.errors.contains("\u{1B}"), "\(text.errors)")
    }

    @Test("Standard input may be lines, JSON with parameters of its own, or packed with gzip")
    func standardInput() async throws {
        let proxy = try await Self.proxy()
        _ = try Self.write(Self.lines(proxy), to: "list.txt", of: proxy)
        let object: JSONValue = ["urls": .strings([proxy.origin.url("/0.jpg")]), "format": .string("png")]
        _ = try Self.write(object.compact, to: "list.json", of: proxy)

        let outcome = try await Self.shell(
            proxy,
            """
            eval "$prefetch -" < list.txt || exit 2
            gzip -c list.txt | eval "$prefetch -" || exit 3
            printf '' | gzip -c | cat list.txt - > /dev/null
            eval "$prefetch --json -" < list.json || exit 4
            eval "$prefetch --format webp -" < list.json && exit 5
            exit 0
            """)

        #expect(outcome.code == 0, "\(outcome.output) \(outcome.errors)")
        #expect(outcome.output.contains("3 made") && outcome.output.contains("3 stored already"))
        #expect(outcome.errors.contains("'format' is there, and among the options, too"))
        let png = try await proxy.get(proxy.target("/0.jpg", "transform=resize:20x&format=png"))
        #expect(png["Cache-Status"]?.contains("hit") == true)
    }

    @Test("On a terminal there is a bar that stays in its line")
    func terminal() async throws {
        let proxy = try await Self.proxy()
        let list = try Self.write(Self.lines(proxy), to: "list.txt", of: proxy)

        // script(1) gives the command a terminal.
        let outcome = try await Self.shell(
            proxy, "exec script -qec \"$prefetch \(list)\" /dev/null")

        #expect(outcome.code == 0, "\(outcome.output) \(outcome.errors)")
        #expect(outcome.output.contains("\r[") && outcome.output.contains("] "), "\(outcome.output)")
        #expect(outcome.output.contains("\u{1B}[K") && outcome.output.contains("3 of 3 images: 3 made"))
    }

    @Test("Ctrl-C cancels the order, says how to go on, and the same command then does")
    func interrupt() async throws {
        let proxy = try await Self.proxy()
        let gate = OriginGate()
        for number in 1...2 {
            proxy.origin.route("/\(number).jpg", PrefetchTests.photo(number).held(by: gate))
        }
        let list = try Self.write(Self.lines(proxy), to: "list.txt", of: proxy)

        async let running = Self.shell(
            proxy, "echo $$ > pid.new; mv pid.new pid; eval \"exec $prefetch \(list)\"")
        await proxy.origin.wait { $0.count("/1.jpg") + $0.count("/2.jpg") == 2 }
        let text = String(decoding: try proxy.folder.read("pid"), as: UTF8.self)
        kill(try #require(pid_t(text.prefix { $0 != "\n" })), SIGINT)
        let outcome = try await running
        gate.open()
        let again = try await Self.prefetch(proxy, list)

        #expect(outcome.code == 130, "\(outcome)")
        #expect(outcome.errors.contains("cancelled; the same command again goes on"))
        #expect(
            again.code == 0 && again.output.contains("2 made") && again.output.contains("1 stored already"))
    }

    @Test("Where the daemon ends, the command says how to go on, with a code of its own")
    func daemonEnds() async throws {
        let proxy = try await Self.proxy()
        proxy.origin.route("/1.jpg", .silence)
        let list = try Self.write(Self.lines(proxy), to: "list.txt", of: proxy)

        async let running = Self.prefetch(proxy, list)
        await proxy.origin.waitForRequests("/1.jpg")
        proxy.daemon.send(signal: SIGTERM)
        let outcome = try await running

        #expect(outcome.code == 69, "\(outcome)")
        #expect(outcome.errors.contains("the daemon") || outcome.errors.contains("no daemon answers"))
    }

    @Test("An index of sitemaps is followed, in loops and packed, on its own host alone")
    func sitemap() async throws {
        let proxy = try await Self.proxy()
        let origin = proxy.origin
        func index(_ urls: [String]) -> OriginAnswer {
            let entries = urls.map { "<sitemap><loc>\($0)</loc></sitemap>" }.joined()
            return .body(
                Array("<?xml version='1.0'?><sitemapindex>\(entries)</sitemapindex>".utf8), type: "text/xml")
        }
        func map(_ paths: [String]) -> String {
            "<urlset>"
                + paths.map {
                    "<url><image:image><image:loc>\(origin.url($0))</image:loc></image:image></url>"
                }
                .joined() + "<url><loc>\(origin.url("/page.html"))</loc></url></urlset>"
        }
        origin.route(
            "/index.xml",
            index([
                origin.url("/a.xml"), origin.url("/b.xml.gz"), origin.url("/index.xml"),
                "http://127.0.0.9:1/c.xml",
            ]))
        origin.route("/a.xml", .body(Array(map(["/0.jpg", "/1.jpg"]).utf8), type: "text/xml"))
        let packed = try await Self.shell(proxy, "printf '%s' '\(map(["/2.jpg"]))' | gzip -c > b.xml.gz")
        origin.route("/b.xml.gz", .body(try proxy.folder.read("b.xml.gz"), type: "application/gzip"))

        let outcome = try await Self.prefetch(proxy, origin.url("/index.xml"))

        #expect(packed.code == 0 && outcome.code == 0, "\(outcome.output) \(outcome.errors)")
        #expect(outcome.output.hasPrefix("3 of 3 images: 3 made"))
        #expect(outcome.errors == "1 sitemaps were not read: on another host\n")
        #expect(["/index.xml", "/a.xml", "/b.xml.gz"].allSatisfy { origin.count($0) == 1 })
        #expect(origin.count("/page.html") == 0)
    }

    @Test("Input that is hostile or wrong ends the command with 64 and the reason, and cancels what was sent")
    func hostile() async throws {
        let proxy = try await Self.proxy()
        let inputs: [(name: String, bytes: [UInt8], reason: String)] = [
            ("bomb.gz", GzipBomb.bytes(runs: 5_000_000), "line 1 has more than 8192 bytes"),
            (
                "entity.xml", Array("<!DOCTYPE u [<!ENTITY a \"b\">]><urlset/>".utf8),
                "a document type is not accepted"
            ),
            ("long.txt", [UInt8](repeating: 0x78, count: 100_000), "line 1 has more than 8192 bytes"),
            ("empty.txt", Array("# nothing\n".utf8), "it has no URL of a picture"),
            ("wrong.json", Array("[1]".utf8), "a URL must be a text, not a number"),
            ("deep.json", [UInt8](repeating: 0x5B, count: 100_000), "nested deeper than"),
            ("cut.gz", [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3], "the gzip stream is cut short"),
            ("bad.gz", [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xFF, 0xFF, 0xFF], "the gzip stream is damaged"),
        ]
        for input in inputs {
            try proxy.folder.write(input.bytes, to: input.name)
            let outcome = try await Self.prefetch(proxy, "\(proxy.folder.path)/\(input.name)")
            #expect(
                outcome.code == 64 && outcome.errors.contains(input.reason),
                "\(input.name): \(outcome.errors)")
        }
        #expect(proxy.origin.log.requests.isEmpty)
    }

    @Test("Wrong options, missing files, refused parameters and missing daemons are distinguished")
    func errors() async throws {
        let proxy = try await Self.proxy()
        let list = try Self.write(Self.lines(proxy), to: "list.txt", of: proxy)

        let rate = try await Self.prefetch(proxy, "--rate", "0", list)
        let missing = try await Self.prefetch(proxy, "/nonexistent/list.txt")
        let refused = try await Self.prefetch(proxy, "--parameter", "quality=900", list)
        let gone = try await OtherProgram.run(
            DaemonProcess.executable, ["prefetch", "--admin", "unix:/nonexistent/admin.sock", list])
        let map = try await Self.prefetch(proxy, proxy.origin.url("/missing.xml"))

        #expect(rate.code == 64 && rate.errors.contains("--rate must be"))
        #expect(missing.code == 64 && missing.errors.contains("/nonexistent/list.txt: No such file"))
        #expect(
            refused.code == 64 && refused.errors.contains("quality") && refused.errors.contains("1 to 100"))
        #expect(gone.code == 69 && gone.errors.contains("no daemon answers at unix:/nonexistent/admin.sock"))
        #expect(map.code == 64 && map.errors.contains("the server answered 404"))
    }

    @Test("A list that is longer than the daemon's queue is sent in pieces as there is room")
    func pieces() async throws {
        let proxy = try await PrefetchTests.proxy(
            photos: 1, settings: #""prefetch": {"queueBytes": "1MiB"}"#)
        // The same source, so that all but the first are skipped.
        let list = try Self.write(
            Self.lines(proxy, Array(repeating: "/0.jpg", count: 9_000)), to: "list.txt", of: proxy)

        let outcome = try await Self.prefetch(proxy, "--json", list)

        #expect(outcome.code == 0, "\(outcome.errors)")
        let last = try #require(outcome.output.split(separator: "\n").last)
        var parser = JSONParser(Array(last.utf8))
        let object = try parser.parse()
        // Two at the same time may share the making.
        #expect(object.int("total") == 9_000 && (1...2).contains(object.int("finished")))
        #expect(object.int("finished") + object.int("skipped") == 9_000)
        #expect(proxy.origin.count("/0.jpg") == 1)
    }

    @Test("The bar fits into the terminal, and shows what is left once all is known")
    func bar() {
        var progress = PrefetchProgress(token: PrefetchProgress.newToken())
        (progress.total, progress.finished, progress.failed, progress.bytes) = (400, 99, 1, 12_345_678)

        let bar = PrefetchScreen.bar(progress, isComplete: true, took: .seconds(10), width: 79)

        #expect(
            bar == "[##########" + String(repeating: ".", count: 30) + "] 100/400 12 MB 1 failed 30 s left")
        for width in 0...100 {
            #expect(
                PrefetchScreen.bar(progress, isComplete: false, took: .seconds(10), width: width).count
                    <= width)
        }
    }
}
