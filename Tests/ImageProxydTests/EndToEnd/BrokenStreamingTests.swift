// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite("Streamed pictures that break off, and clients that disconnect")
struct BrokenStreamingTests {
    private static let picture = Picture()

    /// A client that has the first part of the picture.
    private static func begin(_ proxy: Proxy, _ target: String) throws -> RawHTTPClient {
        let client = try RawHTTPClient(unixSocket: proxy.daemon.socketPath)
        try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        let head = try client.head()
        #expect(head.status == 200)
        var count = 0
        while count < picture.first.count {
            count +=
                try head["Transfer-Encoding"] == nil
                ? client.bytes(picture.first.count - count).count : client.chunk()?.count ?? 0
        }
        return client
    }

    @Test(
        "When an origin breaks off, its clients' answers are cut, nothing is stored, and the next request fetches again",
        arguments: [
            (Picture.Length.declared, false), (.declared, true), (.chunked, false), (.chunked, true),
        ])
    func brokenOff(length: Picture.Length, isReset: Bool) async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        proxy.origin.route(
            "/a.jpg",
            inTurn: [
                Self.picture.broken(gate, length, by: isReset ? .reset : .close), .body(Self.picture.bytes),
            ])
        let target = proxy.target("/a.jpg")

        let rests = try await onThread {
            let clients = try (0..<2).map { _ in try Self.begin(proxy, target) }
            gate.open()
            // The connection ends: neither the declared length nor a last chunk was received.
            return try clients.map { try $0.receiveAll() }
        }
        let again = try await proxy.get(target)
        let failures = #"imageproxyd_http_failures_total{route="img",cause="origin"}"#
        #expect(try await proxy.metric(failures) == 2)
        proxy.daemon.send(signal: SIGTERM)
        #expect(try await proxy.daemon.exitCode() == 0)

        #expect(rests.allSatisfy { $0.isEmpty })
        #expect(isSame(again.body, Self.picture.bytes))
        #expect(again["Cache-Status"]?.hasPrefix("imageproxyd; fwd=uri-miss") == true)
        #expect(proxy.origin.count("/a.jpg") == 2)
        let lines = proxy.daemon.log.split(separator: "\n").filter {
            $0.contains("problem=upstream_incomplete")
        }
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.contains("status=200 bytes=\(Self.picture.first.count) ") })
        #expect(
            lines.contains { $0.contains("cache=miss") } && lines.contains { $0.contains("cache=collapsed") })
    }

    @Test(
        "When gzip breaks off in a complete body, its clients' answers are cut, and nothing is stored",
        arguments: [Picture.Length.declared, .chunked, .untilClose])
    func brokenCoding(length: Picture.Length) async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        // Half of the file is not a complete gzip stream, however well the body is framed.
        let packed = Packed.gzip(Self.picture.bytes + Self.picture.bytes)
        let half = Picture(coded: Array(packed[..<(packed.count / 2)]))
        proxy.origin.route(
            "/a.jpg",
            inTurn: [half.answer(gate, length, coding: "gzip"), .body(Self.picture.bytes)])
        let target = proxy.target("/a.jpg")

        let rest = try await onThread {
            let client = try RawHTTPClient(unixSocket: proxy.daemon.socketPath)
            try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
            let head = try client.head()
            #expect(head["Content-Length"] == nil)
            gate.open()
            return try client.receiveAll()
        }
        let again = try await proxy.get(target)

        #expect(rest.count > 1_000)
        // No last chunk (RFC 9112 §7.1).
        #expect(!rest.suffix(7).elementsEqual("\r\n0\r\n\r\n".utf8))
        #expect(isSame(again.body, Self.picture.bytes))
        #expect(again["Cache-Status"]?.hasPrefix("imageproxyd; fwd=uri-miss") == true)
        #expect(proxy.origin.count("/a.jpg") == 2)
    }

    @Test(
        "When gzip breaks off before an answer has begun, the failure is answered like any other"
    )
    func brokenShortCoding() async throws {
        let proxy = try await Proxy()
        let packed = Packed.gzip(Fixtures.photo)
        proxy.origin.route(
            "/a.jpg", .body(Array(packed.dropLast(1)), fields: [("Content-Encoding", "gzip")]))

        let answer = try await proxy.get(proxy.target("/a.jpg", "transform=resize:50x50"))

        #expect(answer.status == 502)
        #expect(answer.code == "upstream_incomplete")
    }

    @Test("An origin that breaks off before the first byte of content is answered like any other failure")
    func brokenAtOnce() async throws {
        let proxy = try await Proxy()
        let head = OriginAnswer.head(200, [("Content-Length", "200000")])
        proxy.origin.route("/a.jpg", OriginAnswer([.send(head), .close]))

        let answer = try await proxy.get(proxy.target("/a.jpg"))

        #expect(answer.status == 502)
        #expect(answer.code == "upstream_incomplete")
    }

    @Test(
        "A body beyond the limit cuts the answer, and the failure is remembered")
    func tooLarge() async throws {
        let proxy = try await Proxy(settings: "\"fetch\": {\"maxBytes\": \"150KiB\"}")
        let gate = OriginGate()
        proxy.origin.route("/a.jpg", Self.picture.answer(gate, .chunked))
        let target = proxy.target("/a.jpg")

        await #expect(throws: RawHTTPClient.Failure.self) {
            try await onThread {
                let client = try Self.begin(proxy, target)
                gate.open()
                while try client.chunk() != nil {}
            }
        }
        // A request while the failure is being recorded may still join the same task, or begin another.
        var again: RawHTTPClient.Answer?
        for _ in 0..<100 where again?.status != 422 { again = try? await proxy.get(target) }
        let fetches = proxy.origin.count("/a.jpg")

        #expect(again?.code == "source_too_large")
        #expect(try await proxy.get(target).status == 422)
        #expect(proxy.origin.count("/a.jpg") == fetches)
    }

    @Test("When the last client disconnects, the transfer ends; while one stays, it continues")
    func leaving() async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        proxy.origin.route("/a.jpg", inTurn: [Self.picture.answer(OriginGate()), Self.picture.answer(gate)])
        let target = proxy.target("/a.jpg")

        try await onThread {
            for client in try (0..<2).map({ _ in try Self.begin(proxy, target) }) { client.hangUp() }
        }
        await proxy.origin.waitForDepartures("/a.jpg")
        let rest = try await onThread {
            let clients = try (0..<2).map { _ in try Self.begin(proxy, target) }
            clients[0].hangUp()
            gate.open()
            return try clients[1].bytes(Self.picture.rest.count)
        }
        proxy.daemon.send(signal: SIGTERM)
        #expect(try await proxy.daemon.exitCode() == 0)

        #expect(isSame(rest, Self.picture.rest))
        #expect(proxy.origin.count("/a.jpg") == 2)
        let cut = proxy.daemon.log.split(separator: "\n").filter { $0.contains("problem=client_left") }
        #expect(cut.count == 3)
        #expect(cut.allSatisfy { $0.contains("status=200 bytes=\(Self.picture.first.count) ") })
    }

    @Test("A transfer that continues in the background does so although all clients have disconnected")
    func background() async throws {
        let proxy = try await Proxy(security: #""allowedOptions": ["continue-in-background"]"#)
        let gate = OriginGate()
        proxy.origin.route("/a.jpg", Self.picture.answer(gate))
        let target = proxy.target("/a.jpg", "options=continue-in-background")

        try await onThread { try Self.begin(proxy, target).hangUp() }
        gate.open()
        await proxy.origin.wait { $0.completions["/a.jpg"] == 1 }
        let answer = try await proxy.get(target)

        #expect(isSame(answer.body, Self.picture.bytes))
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    @Test("A daemon that shuts down completes its answers first")
    func draining() async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        proxy.origin.route("/a.jpg", Self.picture.answer(gate))
        let target = proxy.target("/a.jpg")

        let client = try await onThread { try Self.begin(proxy, target) }
        proxy.daemon.send(signal: SIGTERM)
        // It no longer listens: it has begun to drain.
        try await onThread { try FolderWatch.waitForRemoval(of: proxy.daemon.socketPath) }
        gate.open()
        let rest = try await onThread { try client.receiveAll() }

        #expect(isSame(rest, Self.picture.rest))
        #expect(try await proxy.daemon.exitCode() == 0)
    }

    @Test("64 MiB take no more memory than 1 MiB, however slowly they are read")
    func boundedMemory() async throws {
        let proxy = try await Proxy(settings: "\"fetch\": {\"maxBytes\": \"128MiB\"}")
        let picture = Picture(first: 100_000, rest: 1 << 20)
        let gate = OriginGate()
        gate.open()
        proxy.origin.route("/small.jpg", picture.answer(gate, .chunked))
        let mebibyte = [UInt8](repeating: 0x61, count: 1 << 20)
        var large = picture.answer(gate, .untilClose)
        large.steps = [large.steps[0]] + Array(repeating: .send(mebibyte), count: 64) + [.close]
        proxy.origin.route("/large.jpg", large)
        let targets = ["/small.jpg", "/large.jpg"].map { proxy.target($0) }
        _ = try await proxy.get(targets[0])
        let before = try proxy.daemon.peakMemory

        let counts = try await onThread {
            let clients = try (0..<4).map { _ in
                let client = try RawHTTPClient(unixSocket: proxy.daemon.socketPath)
                try client.send("GET \(targets[1]) HTTP/1.1\r\nHost: a\r\n\r\n")
                return client
            }
            return try clients.map { client in
                _ = try client.head()
                var count = 0
                while let chunk = try client.chunk() { count += chunk.count }
                return count
            }
        }

        #expect(counts.allSatisfy { $0 == 100_000 + 64 << 20 })
        let growth = try proxy.daemon.peakMemory - before
        #expect(growth < 16 << 20)
        #expect(proxy.origin.count("/large.jpg") == 1)
    }
}
