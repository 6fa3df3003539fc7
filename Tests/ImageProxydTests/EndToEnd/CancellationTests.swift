// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("When the last client has disconnected")
struct CancellationTests {
    private static let fields = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]
    private static let small = "transform=resize:40x&format=png"
    private static let allowed = #""allowedOptions": ["continue-in-background"]"#

    /// A client that has sent a request and waits.
    private static func ask(_ proxy: Proxy, _ target: String) async throws -> RawHTTPClient {
        let path = proxy.daemon.socketPath
        return try await onThread {
            let client = try RawHTTPClient(unixSocket: path)
            try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
            return client
        }
    }

    private static func until(
        _ metric: String, of proxy: Proxy, is holds: (Double) -> Bool
    ) async throws {
        while try await !holds(proxy.metric(metric)) {}
    }

    @Test(
        "A queued fetch is not started after its last client has disconnected, unless it continues in the background",
        arguments: [false, true])
    func queued(inBackground: Bool) async throws {
        let proxy = try await Proxy(
            settings: "\"fetch\": {\"maxConcurrent\": 1, \"queueTimeout\": \"60s\"}", security: Self.allowed)
        let gate = OriginGate()
        proxy.origin.route(
            "/first.jpg", OriginAnswer.body(Fixtures.photo, fields: Self.fields).held(by: gate))
        proxy.origin.route("/second.jpg", .body(Fixtures.photo, fields: Self.fields))
        proxy.origin.route("/third.jpg", .body(Fixtures.photo, fields: Self.fields))
        let option = inBackground ? "options=continue-in-background" : ""

        let first = try await Self.ask(proxy, proxy.target("/first.jpg"))
        _ = await proxy.origin.waitForRequests("/first.jpg")
        let second = try await Self.ask(proxy, proxy.target("/second.jpg", option))
        try await Self.until("imageproxyd_fetch_queue", of: proxy) { $0 == 1 }
        second.hangUp()
        try await Self.until("imageproxyd_http_connections", of: proxy) { $0 == 2 }
        if !inBackground { try await Self.until("imageproxyd_fetch_queue", of: proxy) { $0 == 0 } }
        gate.open()
        let answer = try await onThread { try first.answer() }
        // After the second in the queue, if that is still there.
        let third = try await proxy.get(proxy.target("/third.jpg"))

        #expect(answer.status == 200 && third.status == 200)
        #expect(proxy.origin.count("/second.jpg") == (inBackground ? 1 : 0))
    }

    @Test(
        "A transform is cancelled together with its worker, unless it continues in the background",
        arguments: [false, true])
    func transform(inBackground: Bool) async throws {
        let proxy = try await Proxy(
            security: Self.allowed,
            environment: ["IMAGEPROXYD_TRANSFORM_WORKERS=1", "IMAGEPROXYD_TRANSFORM_TIMEOUT=60s"])
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        let option = inBackground ? "&options=continue-in-background" : ""
        let target = proxy.target("/a.jpg", Self.small + option)
        let worker = try #require(try Self.children(of: proxy.daemon.pid).first)
        // It takes its job and does nothing: the job runs until it is cancelled.
        kill(worker, SIGSTOP)

        let client = try await Self.ask(proxy, target)
        try await Self.until("imageproxyd_workers{state=\"busy\"}", of: proxy) { $0 == 1 }
        client.hangUp()
        if inBackground {
            try await Self.until("imageproxyd_http_connections", of: proxy) { $0 == 1 }
            kill(worker, SIGCONT)
        } else {
            try await Self.until("imageproxyd_worker_restarts_total{reason=\"cancelled\"}", of: proxy) {
                $0 == 1
            }
        }
        let answer = try await proxy.get(target)

        #expect(answer.pngSize?.first == 40)
        #expect(proxy.origin.count("/a.jpg") == 1)
        let restarts = try await proxy.metric("imageproxyd_worker_restarts_total{reason=\"cancelled\"}")
        #expect(restarts == (inBackground ? 0 : 1))
        #expect(try Self.children(of: proxy.daemon.pid).contains(worker) == inBackground)
    }

    @Test("A transform continues for a client that stays")
    func oneStays() async throws {
        let proxy = try await Proxy(
            environment: ["IMAGEPROXYD_TRANSFORM_WORKERS=1", "IMAGEPROXYD_TRANSFORM_TIMEOUT=60s"])
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        let target = proxy.target("/a.jpg", Self.small)
        let worker = try #require(try Self.children(of: proxy.daemon.pid).first)
        kill(worker, SIGSTOP)

        let leaver = try await Self.ask(proxy, target)
        try await Self.until("imageproxyd_workers{state=\"busy\"}", of: proxy) { $0 == 1 }
        let stayer = try await Self.ask(proxy, target)
        try await Self.until("imageproxyd_http_connections", of: proxy) { $0 == 3 }
        leaver.hangUp()
        try await Self.until("imageproxyd_http_connections", of: proxy) { $0 == 2 }
        kill(worker, SIGCONT)
        let answer = try await onThread { try stayer.answer() }

        #expect(answer.pngSize?.first == 40)
        #expect(try Self.children(of: proxy.daemon.pid).contains(worker))
    }

    /// A process's children (proc(5), stat: the field after name and state is the parent).
    private static func children(of parent: Int32) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap(Int32.init).filter { pid in
            // A process may have ended in between.
            guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else {
                return false
            }
            let fields = stat.split(separator: ")").last?.split(separator: " ")
            return fields?.dropFirst().first.map(String.init) == "\(parent)"
        }
    }
}
