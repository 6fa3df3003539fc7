// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import HTTPServer

@Suite("Endless messages")
struct EndlessMessageTests {
    /// A message that begins with `start` and continues with `piece` for ever, and the expected result.
    struct Endless: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let start: String
        let piece: String
        let status: Int
        let reason: HTTPServer.RejectionReason

        init(
            _ name: String, _ start: String, _ piece: String, _ status: Int,
            _ reason: HTTPServer.RejectionReason
        ) {
            (testDescription, self.start, self.piece) = (name, start, piece)
            (self.status, self.reason) = (status, reason)
        }
    }

    private static let head = "GET / HTTP/1.1\r\nHost: a\r\n"
    private static let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"

    static let messages = [
        Endless("field lines", head, "X: y\r\n", 431, .headTooLarge),
        Endless(
            "field lines of some size", head, "X: \(String(repeating: "y", count: 1_000))\r\n", 431,
            .headTooLarge),
        Endless("a field's value", head + "X: ", "yyyyyyyy", 431, .headTooLarge),
        Endless("a field's name", head, "xxxxxxxx", 431, .headTooLarge),
        Endless("a target", "GET /", "aaaaaaaa", 414, .targetTooLong),
        Endless("a method", "", "AAAAAAAA", 501, .notImplemented),
        Endless("empty lines", "", "\r\n", 400, .malformed),
        Endless("chunks", chunked, "1000\r\n\(String(repeating: "a", count: 4_096))\r\n", 413, .bodyTooLarge),
        Endless("a chunk's size", chunked, "0000", 413, .bodyTooLarge),
        Endless("a chunk's extension", chunked + "1;a=", "bbbbbbbb", 413, .bodyTooLarge),
        Endless("chunk extensions", chunked, "1;a=bbbbbbbb\r\nc\r\n", 413, .bodyTooLarge),
        Endless("a trailer", chunked + "0\r\nX: ", "yyyyyyyy", 431, .headTooLarge),
        Endless("trailers", chunked + "0\r\n", "X: y\r\n", 431, .headTooLarge),
    ]

    @Test(
        "An endless message is refused at its bound and counted, and its connection is closed",
        arguments: messages)
    func endless(_ message: Endless) async throws {
        let server = try TestServer { _ in
            Issue.record("the handler was asked")
            return .now(HTTPResponse(status: .ok))
        }
        let limit = 1 << 20
        let (answer, rest) = try await onThread {
            let client = try server.client()
            defer { client.hangUp() }
            try client.send(message.start)
            #expect(client.repeatedly(send: message.piece, atMost: limit) < limit)
            return (try client.answer(), try client.receiveAll())
        }
        await server.emptiness()

        #expect(answer.status == message.status)
        #expect(answer["Connection"] == "close")
        #expect(answer["Content-Type"] == "application/problem+json")
        #expect(rest.isEmpty)
        #expect(server.server.counts.rejected == [message.reason: 1])
    }

    @Test(
        "What a client sends after the last request of a connection is discarded for a bounded time; other clients are answered"
    )
    func behindTheEnd() async throws {
        let time = ManualTime()
        let server = try TestServer(by: time) { .now(text($0.target)) }
        let client = try server.client()
        try client.send(get("/last", "Connection: close\r\n") + get("/never"))
        let flood = String(repeating: get("/never"), count: 10_000)

        let floods = Observed(0)
        async let sent = onThread {
            // Until the server refuses: longer than any test may take if it never does.
            while (try? client.send(flood)) != nil { floods.update { $0 += 1 } }
        }
        // More than the socket's buffers hold.
        await floods.wait { $0 >= 10 }
        try await onThread {
            let other = try server.client()
            repeat {
                try other.send(get("/other"))
                #expect(try other.answer().text == "/other")
                // It does not read its answer either.
                time.advance(by: .seconds(1))
            } while server.server.counts.connections > 1
            other.hangUp()
        }
        try await sent
        let received = try await onThread { try client.receiveAll() }

        #expect(String(decoding: received, as: UTF8.self).hasSuffix("\r\n\r\n/last"))
        #expect(server.exchanges.value.count { $0.requestID.withBytes { $0.count } > 0 && $0.wasCut } == 0)
        client.hangUp()
    }

    @Test("Beyond the connection limit, an idle connection is closed in favour of a health check")
    func eviction() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.maxConnections = 1
        configuration.reservedConnections = 2
        configuration.closeTimeout = .seconds(86_400)
        let gate = Gate()
        let server = try TestServer(configuration) { request in
            guard request.target == "/slow" else { return .now(text(request.target)) }
            return .later(context: 0) {
                await gate.passage()
                return text("done")
            }
        }
        // The one connection below the limit is busy.
        let first = try server.client()
        try first.send(get("/slow"))
        await gate.arrival()
        try await onThread {
            let silent = try (0..<20).map { _ in try server.client() }
            let checker = try server.client()
            try checker.send(get("/health"))
            #expect(try checker.answer().status == 200)
            gate.open()
            #expect(try first.answer().status == 200)
            (silent + [first, checker]).forEach { $0.hangUp() }
        }
        #expect(server.rejections(.evicted) >= 18)
        #expect(server.rejections(.tooManyConnections) == 0)
    }

    @Test(
        "Beyond the connection limit, a connection that announces content and does not send it blocks no other client",
        arguments: ["/", "/health"], ["Content-Length: 5", "Transfer-Encoding: chunked"])
    func announcedContent(target: String, framing: String) async throws {
        let configuration = HTTPServer.Configuration.longTimeouts.withFewPlaces
        let server = try TestServer(configuration) { .now(text($0.target)) }
        try await onThread {
            let slow = try (0..<20).map { _ in
                let client = try server.client()
                try client.send("POST \(target) HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n")
                return client
            }
            let checker = try server.client()
            try checker.send(get("/health"))
            #expect(try checker.answer().status == 200)
            (slow + [checker]).forEach { $0.hangUp() }
        }
        #expect(server.rejections(.tooManyConnections) == 0)
        #expect(server.rejections(.evicted) >= 16)
    }

    @Test("At the connection limit, an idle connection is closed in favour of a new one")
    func idleFlood() async throws {
        let configuration = HTTPServer.Configuration.longTimeouts.withFewPlaces
        let server = try TestServer(configuration) { .now(text($0.target)) }
        try await onThread {
            // Some have sent one request, some none, some only half of one.
            let idle = try (0..<40).map { number in
                let client = try server.client()
                if number % 3 == 0 {
                    try client.send(get("/health"))
                    #expect(try client.answer().status == 200)
                } else if number % 3 == 1 {
                    try client.send("GET / HT")
                }
                return client
            }
            for _ in 0..<10 {
                let client = try server.client()
                try client.send(get("/"))
                let answer = try client.answer()
                #expect(answer.status == 200 && answer["Connection"] == nil)
                client.hangUp()
            }
            idle.forEach { $0.hangUp() }
        }
        #expect(server.rejections(.overload) == 0)
        #expect(server.rejections(.evicted) >= 36)
    }

    @Test(
        "In a flood beyond the connection limit, every connection is served, refused or closed, and counted, and all of them end"
    )
    func connectionFlood() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.maxConnections = 20
        configuration.reservedConnections = 4
        configuration.loops = 2
        let server = try TestServer(configuration) { .now(text($0.target)) }

        let clients = try await onThread {
            try (0..<200).map { _ in
                let client = try server.networkClient()
                // Ignored: a request to a connection that has been refused already.
                try? client.send(get("/health"))
                return client
            }
        }
        let statuses = try await onThread { clients.map { (try? $0.answer().status) ?? 0 } }

        // More than 24 if the flood is so slow that the first have been served and closed meanwhile.
        let (accepted, refused) = (server.server.counts.accepted, server.rejections(.tooManyConnections))
        #expect(accepted >= 24)
        #expect(accepted + refused == 200)
        // Those that sent slowly, or had been answered, were closed in favour of later ones.
        #expect(statuses.count { $0 == 200 } >= accepted - server.rejections(.evicted))
        #expect(statuses.allSatisfy { [0, 200, 503].contains($0) })
        clients.forEach { $0.hangUp() }
        await server.emptiness()
        try await onThread {
            let client = try server.networkClient()
            try client.send(get("/again"))
            #expect(try client.answer().text == "/again")
            client.hangUp()
        }
    }
}

extension HTTPServer.Configuration {
    /// The same with a limit of four connections, and two for health checks.
    fileprivate var withFewPlaces: HTTPServer.Configuration {
        var configuration = self
        configuration.maxConnections = 4
        configuration.reservedConnections = 2
        return configuration
    }
}
