// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite("A daemon without descriptors")
struct ExhaustionTests {
    @Test("answers health checks when no descriptor is left, and everybody when some have come back")
    func exhaustion() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600")]))
        let target = proxy.target("/photo.jpg")
        #expect(try await proxy.get(target).status == 200)
        let path = proxy.daemon.socketPath
        try proxy.daemon.limitDescriptors(aboveOpen: 20)

        let (clients, refused, health) = try await onThread {
            // All stay connected, so that nobody gets a descriptor that another gave back.
            var clients: [RawHTTPClient] = []
            func ask(_ target: String) throws -> RawHTTPClient.Answer {
                clients.append(try RawHTTPClient(unixSocket: path))
                try clients[clients.count - 1].send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
                return try clients[clients.count - 1].answer()
            }
            var answer = try ask(target)
            while answer.status == 200, clients.count < 100 { answer = try ask(target) }
            return (clients, answer, try ask("/healthz"))
        }
        clients.forEach { $0.hangUp() }
        let later = try await proxy.firstAnswer(to: target, with: 200)

        #expect(refused.status == 503)
        #expect(refused["Retry-After"] == "1")
        #expect(health.status == 200)
        #expect(later.body == Fixtures.photo)
    }

    @Test("closes files that it keeps open, so that clients are answered")
    func givingWay() async throws {
        let proxy = try await Proxy(results: "disk")
        let targets = (0..<40).map { proxy.target("/\($0).jpg") }
        for number in 0..<40 {
            proxy.origin.route(
                "/\(number).jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600")]))
        }
        // Fetched, then found on disk, then kept open.
        for _ in 0..<4 { for target in targets { #expect(try await proxy.get(target).status == 200) } }
        let path = proxy.daemon.socketPath
        try proxy.daemon.limitDescriptors(aboveOpen: 2)

        let (clients, statuses) = try await onThread {
            var clients: [RawHTTPClient] = []
            var statuses: [UInt16] = []
            for target in targets.prefix(20) {
                clients.append(try RawHTTPClient(unixSocket: path))
                try clients[clients.count - 1].send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
                statuses.append(UInt16(try clients[clients.count - 1].answer().status))
            }
            return (clients, statuses)
        }
        clients.forEach { $0.hangUp() }

        #expect(statuses.allSatisfy { $0 == 200 }, "\(statuses)")
    }

    @Test("answers health checks while connections that ask for nothing have every descriptor")
    func silentFlood() async throws {
        let proxy = try await Proxy()
        let path = proxy.daemon.socketPath
        try proxy.daemon.limitDescriptors(aboveOpen: 20)

        let health = try await onThread {
            // Far more than descriptors, those kept back among them: the checker stands behind them in the backlog.
            let silent = try (0..<100).map { _ in try RawHTTPClient(unixSocket: path) }
            let checker = try RawHTTPClient(unixSocket: path)
            try checker.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try checker.answer()
            (silent + [checker]).forEach { $0.hangUp() }
            return answer
        }

        #expect(health.status == 200)
        // They did not leave by themselves when their time was over.
        #expect(try await proxy.metric(#"imageproxyd_http_rejected_total{reason="evicted"}"#) > 0)
    }
}
