// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Commands for a running daemon")
struct OperatorCommandTests {
    private static let jpeg = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]
    private static let small = "transform=resize:30x20&format=png"

    private static func run(_ proxy: Proxy, _ arguments: String...) async throws -> OtherProgram.Outcome {
        let admin = "unix:\(proxy.folder.path)/cache/admin.sock"
        return try await OtherProgram.run(DaemonProcess.executable, arguments + ["--admin", admin])
    }

    /// A daemon that has two sources, with two results each.
    private static func filled() async throws -> Proxy {
        let proxy = try await Proxy()
        for path in ["/photos/a.jpg", "/photos/b.jpg", "/other/c.jpg"] {
            proxy.origin.route(path, .body(Fixtures.photo, fields: jpeg))
            _ = try await proxy.get(proxy.target(path, small))
        }
        return proxy
    }

    @Test("explain prints a line a step, and its exit code says whether there would be a picture")
    func explain() async throws {
        let proxy = try await Self.filled()
        let known = try await Self.run(proxy, "explain", proxy.target("/photos/a.jpg", Self.small))
        let whole = try await Self.run(
            proxy, "explain", "http://proxy.example" + proxy.target("/photos/a.jpg", Self.small))
        let source = try await Self.run(proxy, "explain", proxy.origin.url("/photos/a.jpg"))
        let missing = try await Self.run(proxy, "explain", "/img?url=ftp%3A%2F%2Fx")

        #expect(known.code == 0 && known.output.contains("answer      200 from memory\n"))
        #expect(whole.code == 0 && whole.output.hasPrefix("request     /img?url="))
        #expect(source.code == 0 && source.output.contains("result      the original as it is\n"))
        #expect(missing.code == 1 && missing.output.contains("unsupported_scheme"))
    }

    @Test("cache stats and cache list show what is stored")
    func cache() async throws {
        let proxy = try await Self.filled()
        let stats = try await Self.run(proxy, "cache", "stats")
        let list = try await Self.run(proxy, "cache", "list", proxy.origin.url("/photos/a.jpg"))
        let none = try await Self.run(proxy, "cache", "list", proxy.origin.url("/photos/x.jpg"))
        let json = try await Self.run(proxy, "cache", "stats", "--json")

        #expect(stats.code == 0 && stats.output.contains("memory        3 entries, "))
        #expect(stats.output.contains("disk          6 entries, "))
        #expect(list.code == 0 && list.output.contains("memory  result"))
        #expect(list.output.contains("disk    original"))
        #expect(none.code == 1 && none.output.hasPrefix("nothing is stored of "))
        var parser = JSONParser(Array(json.output.utf8))
        #expect(try parser.parse().int("disk", "entries") == 6)
    }

    @Test("cache verify reads all files, and removes a damaged one")
    func verify() async throws {
        let proxy = try await Self.filled()
        let sound = try await Self.run(proxy, "cache", "verify")
        #expect(sound.code == 0 && sound.output.hasPrefix("6 entries, "))
        #expect(sound.output.hasSuffix("0 damaged, 0 missing\n"))

        try await Self.damageOneFile(in: proxy.folder.path + "/cache")
        let damaged = try await Self.run(proxy, "cache", "verify")
        #expect(damaged.code == 1 && damaged.output.hasSuffix("1 damaged, 0 missing; removed\n"))
        // The removal is written soon.
        while try await Self.run(proxy, "cache", "verify").code != 0 { await Task.yield() }
        #expect(try await Self.run(proxy, "cache", "verify").output.hasPrefix("5 entries, "))
    }

    private static func damageOneFile(in folder: String) async throws {
        let script = """
            f=$(find "$0" -type f -size +2k ! -name 'index*' ! -name '*.lock' | sort | head -n 1)
            printf 'XXXX' | dd of="$f" bs=1 conv=notrunc seek=$(( $(stat -c %s "$f") - 8 )) 2>&1
            """
        let outcome = try await OtherProgram.run(
            "/bin/sh", ["-c", script, folder], environment: ["PATH": "/usr/bin:/bin"])
        try #require(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
    }

    @Test("purge removes one source, a prefix, or all")
    func purge() async throws {
        let proxy = try await Self.filled()
        let url = try await Self.run(proxy, "purge", "--url", proxy.origin.url("/photos/a.jpg"))
        let prefix = try await Self.run(proxy, "purge", "--prefix", proxy.origin.url("/photos/"))
        #expect(url.output == "purged 1 entries from memory, 2 from disk; forgot 0 failures\n")
        #expect(prefix.output == url.output)

        let kept = try await proxy.get(proxy.target("/other/c.jpg", Self.small))
        let again = try await proxy.get(proxy.target("/photos/b.jpg", Self.small))
        #expect(kept["Cache-Status"]?.contains("hit") == true)
        #expect(again["Cache-Status"]?.contains("fwd=uri-miss") == true)
        let all = try await Self.run(proxy, "purge", "--all", "--json")
        var parser = JSONParser(Array(all.output.utf8))
        #expect(try parser.parse().int("disk") == 4)
    }

    @Test(
        "A purge needs exactly one selector, and a prefix some of a path",
        arguments: [
            [], ["--all", "--tag", "a"], ["--prefix", "http://a.example"], ["--prefix", "photos/"],
        ])
    func selectors(arguments: [String]) async throws {
        let proxy = try await Proxy()
        let admin = ["--admin", "unix:\(proxy.folder.path)/cache/admin.sock"]
        let outcome = try await OtherProgram.run(DaemonProcess.executable, ["purge"] + arguments + admin)
        #expect(outcome.code != 0 && outcome.errors.contains("prefix"))
        #expect(outcome.errors.contains("only one can be given") == arguments.contains("--tag"))
    }

    @Test("failed list shows what is remembered, and failed clear forgets it")
    func failures() async throws {
        let proxy = try await Proxy()
        _ = try await proxy.get(proxy.target("/missing.jpg"))
        let list = try await Self.run(proxy, "failed", "list")
        let clear = try await Self.run(proxy, "failed", "clear", "--url", proxy.origin.url("/missing.jpg"))
        let empty = try await Self.run(proxy, "failed")
        #expect(list.output.contains("upstream_not_found"))
        #expect(list.output.hasSuffix(proxy.origin.url("/missing.jpg") + "\n"))
        #expect(clear.output == "forgot 1 failure\n")
        #expect(empty.output == "no failure is remembered\n")
    }

    @Test("failed list shows an origin that is left alone, because it can't be connected to")
    func origins() async throws {
        let closed = try HeldPort()
        let proxy = try await Proxy(
            settings: #""failedURLs": {"breaker": {"failures": 2, "pause": "1h", "maximum": "1h"}}"#)
        for number in 1...3 {
            _ = try await proxy.get("/img?url=\(closed.url("/\(number).jpg").asQueryValue)")
        }
        let list = try await Self.run(proxy, "failed", "list")
        #expect(list.output.contains("host_unavailable"))
        #expect(list.output.hasSuffix(" http://127.0.0.1:\(closed.port)\n"))
    }

    @Test("Where no daemon answers, the command says where it asked")
    func unreachable() async throws {
        let outcome = try await OtherProgram.run(
            DaemonProcess.executable, ["cache", "stats", "--admin", "unix:/nonexistent/admin.sock"])
        #expect(outcome.code == 1)
        #expect(outcome.errors.contains("no daemon answers at unix:/nonexistent/admin.sock"))
    }
}
