// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite("A daemon that shuts down")
struct DrainTests {
    private static let one = #""http": {"loops": 1, "drainGrace": "30s"}"#

    private static func ask(_ client: RawHTTPClient, _ target: String) throws {
        try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
    }

    @Test("A daemon is not ready after the signal, and answers requests that arrive after it")
    func requestsBehindTheSignal() async throws {
        let proxy = try await Proxy(settings: Self.one)
        let path = proxy.daemon.socketPath
        let witness = try RawHTTPClient(unixSocket: path)
        let clients = try (0..<50).map { _ in try RawHTTPClient(unixSocket: path) }
        while try await proxy.metric("imageproxyd_http_connections") < 51 {}

        proxy.daemon.send(signal: SIGTERM)
        let (last, answers) = try await onThread {
            var last: RawHTTPClient.Answer
            repeat {
                try Self.ask(witness, "/readyz")
                last = try witness.answer()
            } while last["Connection"] != "close"
            for client in clients { try Self.ask(client, "/healthz") }
            return (last, try clients.map { try $0.answer() })
        }
        (clients + [witness]).forEach { $0.hangUp() }

        #expect(last.status == 503)
        #expect(answers.allSatisfy { $0.status == 200 && $0["Connection"] == "close" })
        #expect(try await proxy.daemon.exitCode() == 0)
    }

    @Test("A daemon that shuts down answers all complete requests of its backlog")
    func backlog() async throws {
        let proxy = try await Proxy(settings: Self.one)
        proxy.daemon.send(signal: SIGSTOP)
        let clients = try (0..<100).map { _ in
            let client = try RawHTTPClient(unixSocket: proxy.daemon.socketPath)
            try Self.ask(client, "/healthz")
            return client
        }

        proxy.daemon.send(signal: SIGTERM)
        proxy.daemon.send(signal: SIGCONT)
        let answers = try await onThread { try clients.map { try $0.answer() } }
        clients.forEach { $0.hangUp() }

        #expect(answers.allSatisfy { $0.status == 200 })
        #expect(try await proxy.daemon.exitCode() == 0)
    }

    @Test("A daemon exits although clients keep idle connections")
    func idleConnections() async throws {
        let proxy = try await Proxy()
        let clients = try (0..<50).map { _ in try RawHTTPClient(unixSocket: proxy.daemon.socketPath) }
        while try await proxy.metric("imageproxyd_http_connections") < 50 {}

        proxy.daemon.send(signal: SIGTERM)

        #expect(try await proxy.daemon.exitCode() == 0)
        // In order, and not because the drain's time was over.
        #expect(clients.allSatisfy { $0.receivesEnd() })
        clients.forEach { $0.hangUp() }
    }
}
