// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Bodies that arrive over time")
struct StreamTests {
    @Test(
        "The first bytes are sent before the rest exists; a body without a length is chunked (RFC 9112 §7.1)")
    func chunked() async throws {
        let body = TestBody(.text("first"))
        let server = try TestServer { $0.target == "/next" ? .now(text("next")) : .now(body.answer()) }

        try await onThread {
            let client = try server.client()
            try client.send(get("/") + get("/next"))
            let head = try client.head()
            #expect(head.status == 200)
            #expect(head["Transfer-Encoding"] == "chunked")
            #expect(head["Content-Length"] == nil)
            #expect(try client.chunk() == Array("first".utf8))
            body.arrive(.text("the second piece, of more than 16 bytes"))
            #expect(try client.chunk() == Array("the second piece, of more than 16 bytes".utf8))
            body.arrive(.end)
            #expect(try client.chunk() == nil)
            // The pipelined request waits for the end of the body, and the connection persists.
            #expect(try client.answer().text == "next")
            try client.send(get("/next"))
            #expect(try client.answer().text == "next")
            client.hangUp()
        }

        let exchanges = await server.exchanges.wait { $0.count == 3 }
        #expect(exchanges.first?.bodyBytesSent == 44)
        #expect(exchanges.first?.context == 5)
        #expect(exchanges.allSatisfy { !$0.wasCut })
    }

    @Test("A known length is declared, and only the next answer follows the body (RFC 9112 §6.3)")
    func knownLength() async throws {
        let body = TestBody(.text("ab"))
        let server = try TestServer {
            $0.target == "/next" ? .now(text("next")) : .now(body.answer(length: 5))
        }

        try await onThread {
            let client = try server.client()
            try client.send(get("/") + get("/next"))
            let head = try client.head()
            #expect(head["Content-Length"] == "5")
            #expect(head["Transfer-Encoding"] == nil)
            #expect(try client.bytes(2) == Array("ab".utf8))
            body.arrive(.text("cde"))
            #expect(try client.bytes(3) == Array("cde".utf8))
            #expect(try client.answer().text == "next")
            client.hangUp()
        }
        #expect(await server.exchanges.wait { $0.count == 2 }.first?.bodyBytesSent == 5)
    }

    @Test("In HTTP/1.0 a body of unknown length ends with the connection (RFC 9112 §6.3)")
    func untilClose() async throws {
        let body = TestBody(.text("ab"))
        let server = try TestServer { _ in .now(body.answer()) }

        let received = try await onThread {
            let client = try server.networkClient()
            defer { client.hangUp() }
            try client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let head = try client.head()
            #expect(head["Transfer-Encoding"] == nil)
            #expect(head["Content-Length"] == nil)
            #expect(head["Connection"] == "close")
            #expect(try client.bytes(2) == Array("ab".utf8))
            body.arrive(.text("cd"), .end)
            return try client.receiveAll()
        }

        #expect(received == Array("cd".utf8))
        let exchange = try #require(await server.exchanges.wait { !$0.isEmpty }.first)
        #expect(exchange.bodyBytesSent == 4)
        #expect(!exchange.wasCut)
    }

    @Test(
        "HEAD gets the fields of the body, and the body is not requested (RFC 9110 §9.3.2)",
        arguments: [nil, 5])
    func head(length: Int?) async throws {
        let abandoned = Gate()
        let server = try TestServer { request in
            request.target == "/next"
                ? .now(text("next")) : .now(TestBody(.broken, abandoned: abandoned).answer(length: length))
        }
        try await onThread {
            let client = try server.client()
            try client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + get("/next"))
            let head = try client.answer(isHead: true)
            #expect(head["Content-Length"] == length.map(String.init))
            #expect(head["Transfer-Encoding"] == (length == nil ? "chunked" : nil))
            #expect(try client.answer().text == "next")
            client.hangUp()
        }
        await abandoned.passage()
        #expect(server.exchanges.value.first?.bodyBytesSent == 0)
    }

    @Test("An empty body is complete at once", arguments: [nil, 0])
    func empty(length: Int?) async throws {
        let server = try TestServer { _ in .now(TestBody(.end).answer(length: length)) }
        try await onThread {
            let client = try server.client()
            try client.send(get("/") + get("/"))
            #expect(try client.answer().body.isEmpty)
            #expect(try client.answer().body.isEmpty)
            client.hangUp()
        }
    }

    @Test("Pieces of files and of memory are sent in order and whole, and beyond what a socket buffers")
    func mixedPieces() async throws {
        let bytes = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let file = try AnonymousFile(bytes)
        let pieces: [Range<Int>] = [0..<10, 10..<2_000_000, 2_000_000..<2_000_001, 2_000_001..<bytes.count]
        for isChunked in [true, false] {
            let body = TestBody()
            let server = try TestServer { _ in .now(body.answer(length: isChunked ? nil : bytes.count)) }
            let answer = try await onThread {
                let client = try server.networkClient()
                defer { client.hangUp() }
                try client.send(get("/"))
                for (number, piece) in pieces.enumerated() {
                    body.arrive(.piece(number % 2 == 0 ? .bytes(Array(bytes[piece])) : file.body(piece)))
                }
                body.arrive(.end)
                return try client.answer()
            }
            #expect(answer.body == bytes)
            #expect(await server.exchanges.wait { !$0.isEmpty }.first?.bodyBytesSent == bytes.count)
        }
    }

    @Test(
        "A client that does not read a piece causes no further one to be requested, and delays no other client"
    )
    func slowClient() async throws {
        let piece = HTTPBodyStep.piece(.bytes([UInt8](repeating: 0x61, count: 8 << 20)))
        let slowBody = TestBody(piece, piece, .end)
        let server = try TestServer { request in
            request.target == "/slow"
                ? .now(slowBody.answer()) : .now(TestBody(.text("quick"), .end).answer())
        }
        try await onThread {
            let slow = try server.client()
            try slow.send(get("/slow"))
            let quick = try server.client()
            // On the only loop.
            for _ in 0..<10 {
                try quick.send(get("/quick"))
                #expect(try quick.answer().text == "quick")
            }
            #expect(slowBody.asked == 1)
            #expect(try slow.answer().body.count == 16 << 20)
            quick.hangUp()
            slow.hangUp()
        }
    }
}
