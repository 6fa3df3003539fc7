// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Bodies that break off")
struct BrokenStreamTests {
    @Test(
        "When a body breaks off before its announced end, the server closes the connection, so that the client detects it (RFC 9112 §8)",
        arguments: [nil, 10], [HTTPBodyStep.broken, .end, .text("more than there is room for")])
    func brokenOff(length: Int?, step: HTTPBodyStep) async throws {
        // Without a length these are complete.
        if length == nil, case .broken = step {} else if length == nil { return }
        let abandoned = Gate()
        let body = Mutex<TestBody?>(TestBody(.text("abc"), abandoned: abandoned))
        let server = try TestServer { _ in
            .now(body.withLock { $0?.answer(length: length) } ?? text("gone"))
        }
        let rest = try await onThread {
            let client = try server.networkClient()
            defer { client.hangUp() }
            try client.send(get("/"))
            _ = try client.head()
            #expect(try (length == nil ? client.chunk() : client.bytes(3)) == Array("abc".utf8))
            body.withLock { body in
                body?.arrive(step)
                body = nil
            }
            return try client.receiveAll()
        }
        await abandoned.passage()

        #expect(rest.isEmpty)
        let exchange = try #require(await server.exchanges.wait { !$0.isEmpty }.first)
        #expect(exchange.wasCut)
        #expect(exchange.status.code == 200)
        #expect(exchange.bodyBytesSent == 3)
        #expect(exchange.context == 5)
        #expect(server.rejections(.brokenBody) == 1)
        await server.emptiness()
    }

    @Test(
        "When the end of the connection would mark the end of the body, the server resets the connection instead (RFC 9112 §8)"
    )
    func brokenUntilClose() async throws {
        let body = TestBody(.text("abc"))
        let server = try TestServer { _ in .now(body.answer()) }
        await #expect(throws: RawHTTPClient.Failure.self) {
            try await onThread {
                let client = try server.networkClient()
                defer { client.hangUp() }
                try client.send("GET / HTTP/1.0\r\n\r\n")
                _ = try client.head()
                #expect(try client.bytes(3) == Array("abc".utf8))
                body.arrive(.broken)
                _ = try client.bytes(1)
            }
        }
        #expect(await server.exchanges.wait { !$0.isEmpty }.first?.wasCut == true)
    }

    @Test("A body that fails before a byte is sent is answered as the body's failure handler says")
    func replaced() async throws {
        var gone = text("gone")
        gone.status = .notFound
        let body = TestBody(.broken, replacement: gone)
        let server = try TestServer { _ in .now(body.answer()) }
        try await onThread {
            let client = try server.client()
            try client.send(get("/"))
            let answer = try client.answer()
            #expect(answer.status == 404)
            #expect(answer.text == "gone")
        }
    }

    @Test("A body that fails before a byte is sent is answered as an error, and the connection persists")
    func brokenAtOnce() async throws {
        let server = try TestServer { request in
            request.target == "/next" ? .now(text("next")) : .now(TestBody(.broken).answer())
        }
        try await onThread {
            let client = try server.client()
            try client.send(get("/") + get("/next"))
            let answer = try client.answer()
            #expect(answer.status == 502)
            #expect(answer["Content-Type"] == "application/problem+json")
            #expect(try client.answer().text == "next")
            client.hangUp()
        }
        #expect(server.exchanges.value.first?.context == 5)
    }

    @Test("A client that resets its connection while the body is idle releases the body at once")
    func leaving() async throws {
        let abandoned = Gate()
        let server = try TestServer { _ in .now(TestBody(.text("abc"), abandoned: abandoned).answer()) }
        let client = try server.networkClient()
        try await onThread {
            try client.send(get("/"))
            _ = try client.head()
            #expect(try client.chunk() == Array("abc".utf8))
        }
        client.reset()

        await abandoned.passage()
        let exchange = try #require(await server.exchanges.wait { !$0.isEmpty }.first)
        #expect(exchange.wasCut)
        #expect(exchange.bodyBytesSent == 3)
        #expect(server.server.counts.rejected == [.reset: 1])
        await server.emptiness()
    }

    @Test(
        "A client that has closed its connection while the body is idle is detected when the next bytes are sent"
    )
    func closing() async throws {
        let body = TestBody(.text("abc"))
        let server = try TestServer { _ in .now(body.answer()) }
        let client = try server.networkClient()
        try await onThread {
            try client.send(get("/"))
            _ = try client.head()
            #expect(try client.chunk() == Array("abc".utf8))
        }
        client.hangUp()

        // The host of the client answers the first with a reset.
        while server.exchanges.value.isEmpty {
            body.arrive(.text("d"))
            await server.server.ping()
        }

        #expect(server.exchanges.value.first?.wasCut == true)
        // The reset is seen by the next write, or before it as an event of the socket, which alone is counted.
        #expect([[:], [.reset: 1]].contains(server.server.counts.rejected))
        await server.emptiness()
    }

    @Test("A client that half-closes while the body is being received gets the rest of it")
    func halfClosed() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.closeTimeout = .seconds(86_400)
        let body = TestBody(.text("first"))
        let server = try TestServer(configuration) { request in
            .now(request.target == "/other" ? text(request.target) : body.answer())
        }
        let received = try await onThread {
            let client = try server.networkClient()
            defer { client.hangUp() }
            try client.send(get("/"))
            _ = try client.head()
            #expect(try client.chunk() == Array("first".utf8))
            client.finishSending()
            // The end is received before the rest of the body: an answer to another client comes in between.
            let other = try server.networkClient()
            try other.send(get("/other"))
            #expect(try other.answer().text == "/other")
            other.hangUp()
            body.arrive(.text("last"), .end)
            return try client.receiveAll()
        }
        #expect(String(decoding: received, as: UTF8.self) == "4\r\nlast\r\n0\r\n\r\n")
    }

    @Test("A draining server lets bodies end within the grace period")
    func draining() async throws {
        let (body, time) = (TestBody(.text("abc")), ManualTime())
        let server = try TestServer(by: time) { _ in .now(body.answer()) }
        let client = try await client(of: server)
        try await server.drain {
            let last = Array("1\r\nd\r\n0\r\n\r\n".utf8)
            let received = try await onThread {
                body.arrive(.text("d"), .end)
                return try client.bytes(last.count)
            }
            #expect(received == last)
            try await server.passGrace(of: [client], by: time)
        }

        #expect(server.exchanges.value.map(\.wasCut) == [false])
        client.hangUp()
    }

    @Test("A draining server cuts bodies that are still being received when the grace period is over")
    func cutByDrain() async throws {
        let body = TestBody(.text("abc"))
        let server = try TestServer { _ in .now(body.answer()) }
        let client = try await client(of: server)
        await server.cut()
        let rest = try await onThread { try client.receiveAll() }

        #expect(rest.isEmpty)
        #expect(server.exchanges.value.map(\.wasCut) == [true])
        client.hangUp()
    }

    /// A client that has received the beginning of its answer.
    private func client(of server: TestServer) async throws -> RawHTTPClient {
        try await onThread {
            let client = try server.networkClient()
            try client.send(get("/"))
            _ = try client.head()
            #expect(try client.chunk() == Array("abc".utf8))
            return client
        }
    }
}
