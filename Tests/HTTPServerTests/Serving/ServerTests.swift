// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

@Suite("The server", .serialized)
struct ServerTests {
    @Test("The server answers one request after another on a connection, with Date and Content-Length")
    func keepAlive() async throws {
        let server = try TestServer { .now(text($0.target)) }
        try await onThread {
            let client = try server.client()
            for target in ["/a", "/b?c=d"] {
                try client.send(get(target))
                let answer = try client.answer()
                #expect(answer.status == 200)
                #expect(answer.text == target)
                #expect(answer["Date"] == "Sun, 06 Nov 1994 08:49:37 GMT")
                #expect(answer["Content-Length"] == "\(target.utf8.count)")
                #expect(answer["Connection"] == nil)
            }
        }
    }

    @Test("Pipelined requests are answered in their order, whether at once or later")
    func pipelining() async throws {
        let server = try TestServer { request in
            let target = request.target
            return target.hasPrefix("/later") ? .later(context: 0) { text(target) } : .now(text(target))
        }
        let targets = ["/1", "/later2", "/3", "/4", "/later5", "/6"]
        try await onThread {
            let client = try server.client()
            try client.send(targets.map { get($0) }.joined())
            for target in targets { #expect(try client.answer().text == target) }
        }
    }

    @Test("A request that is received byte by byte is read")
    func byteByByte() async throws {
        let server = try TestServer { .now(text($0.target)) }
        try await onThread {
            let client = try server.client()
            for byte in get("/slow") { try client.send(String(byte)) }
            #expect(try client.answer().text == "/slow")
        }
    }

    @Test("A target of https is refused unless it comes from a trusted proxy (RFC 9110 §7.4)")
    func securedScheme() async throws {
        for isTrusted in [false, true] {
            var configuration = HTTPServer.Configuration.longTimeouts
            configuration.isTrustedProxy = { _ in isTrusted }
            let server = try TestServer(configuration) { .now(text($0.target)) }
            try await onThread {
                let client = try server.client()
                for target in ["http://a/b", "https://a/b", "HTTPS://a?b"] {
                    try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
                    let answer = try client.answer()
                    let isRefused = target.lowercased().hasPrefix("https") && !isTrusted
                    #expect(answer.status == (isRefused ? 421 : 200))
                    guard !isRefused else { break }
                }
            }
            #expect(server.server.counts.rejected[.misdirected] == (isTrusted ? nil : 1))
        }
    }

    @Test("HEAD is answered with the fields of GET and no body (RFC 9110 §9.3.2)")
    func head() async throws {
        let server = try TestServer { _ in .now(text("hello")) }
        try await onThread {
            let client = try server.client()
            try client.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + get("/"))
            let head = try client.answer(isHead: true)
            let full = try client.answer()
            #expect(head.fields.map(\.name) == full.fields.map(\.name))
            #expect(head["Content-Length"] == "5")
            #expect(full.text == "hello")
        }
    }

    @Test("Large bodies are sent whole, from memory and from a file")
    func largeBodies() async throws {
        let bytes = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let file = try AnonymousFile(bytes)
        let server = try TestServer { request in
            var response = HTTPResponse(status: .ok)
            response.body = request.target == "/file" ? file.body(1_000..<4_001_000) : .bytes(bytes)
            return .now(response)
        }
        try await onThread {
            let client = try server.client()
            try client.send(get("/memory") + get("/file") + get("/memory"))
            #expect(try client.answer().body == bytes)
            #expect(try client.answer().body[...] == bytes[1_000..<4_001_000])
            #expect(try client.answer().body == bytes)
        }
    }

    @Test("A request that can't be parsed is refused with its reason, and the connection is closed")
    func refusal() async throws {
        let server = try TestServer { .now(text($0.target)) }
        try await onThread {
            let client = try server.client()
            try client.send("GET / HTTP/1.1\r\nHost : a\r\n\r\n")
            let answer = try client.answer()
            #expect(answer.status == 400)
            #expect(answer["Connection"] == "close")
            #expect(answer["Content-Type"] == "application/problem+json")
            #expect(throws: RawHTTPClient.Failure.self) { try client.answer() }
        }
        #expect(server.server.counts.rejected[.malformed] == 1)
    }

    @Test("A request's content is collected, and requested when the client waits (RFC 9110 §10.1.1)")
    func content() async throws {
        let server = try TestServer { .now(text(String(decoding: $0.body, as: UTF8.self))) }
        try await onThread {
            let client = try server.client()
            try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
            #expect(try client.answer().status == 100)
            try client.send(
                "abc" + "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\n"
            )
            #expect(try client.answer().text == "abc")
            #expect(try client.answer().text == "de")
        }
    }

    @Test("The connection ends as an HTTP/1.0 client expects")
    func http10() async throws {
        let server = try TestServer { .now(text($0.target)) }
        try await onThread {
            let client = try server.client()
            try client.send("GET /a HTTP/1.0\r\n\r\n")
            let answer = try client.answer()
            #expect(answer["Connection"] == "close")
            #expect(throws: RawHTTPClient.Failure.self) { try client.answer() }
        }
    }

    @Test("A head that does not end is 408, and the connection is closed")
    func slowHead() async throws {
        let time = ManualTime()
        let server = try TestServer(by: time) { .now(text($0.target)) }
        let client = try server.client()
        try client.send("GET / HTTP/1.1\r\nHost:")
        await server.counts { $0.connections == 1 }

        time.advance(by: HTTPServer.Configuration.longTimeouts.headerTimeout)
        let answer = try await onThread { try client.answer() }
        #expect(answer.status == 408)
        #expect(server.server.counts.rejected[.headerTimeout] == 1)
    }

    @Test("The task of a client that disconnects is cancelled, and the handler is informed")
    func clientLeaves() async throws {
        let started = Gate()
        let cancelled = Gate()
        let finished = Gate()
        let status = Mutex<UInt16>(0)
        let server = try TestServer(finished: { exchange in
            status.withLock { $0 = exchange.status.code }
            finished.open()
        }) { _ in
            .later(context: 0) {
                await withTaskCancellationHandler {
                    started.open()
                    await cancelled.passage()
                } onCancel: {
                    cancelled.open()
                }
                return text("no client reads this")
            }
        }
        let client = try server.client()
        try client.send(get("/"))
        await started.passage()

        client.hangUp()

        await cancelled.passage()
        await finished.passage()
        #expect(status.withLock { $0 } == 499)
    }

    @Test("Beyond the connection limit only vital requests are answered, up to the reserved connections")
    func tooMany() async throws {
        let gate = Gate()
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.maxConnections = 1
        configuration.reservedConnections = 1
        let server = try TestServer(configuration) { request in
            guard ["/health", "/slow"].contains(request.target) else { return .now(text(request.target)) }
            return .later(context: 0) {
                await gate.passage()
                return text("well")
            }
        }
        // A busy connection is not closed in favour of another.
        let first = try server.client()
        try first.send(get("/slow"))
        await gate.arrival()
        try await onThread {
            let other = try server.client()
            try other.send(get("/"))
            let refused = try other.answer()
            #expect(refused.status == 503 && refused["Connection"] == "close")
            other.hangUp()
            let second = try server.client()
            try second.send(get("/health"))
            // The reserved connection waits for an answer.
            #expect(try server.client().answer().status == 503)
            gate.open()
            let answer = try second.answer()
            #expect(answer.status == 200 && answer["Connection"] == "close")
            #expect(try first.answer()["Connection"] == nil)
            [first, second].forEach { $0.hangUp() }
        }
        #expect(server.server.counts.rejected[.overload] == 1)
        #expect(server.server.counts.rejected[.tooManyConnections] == 1)
    }

    @Test(
        "The server answers as many pipelined requests as a client sends, also if the client then sends no more"
    )
    func longPipeline() async throws {
        let server = try TestServer { .now(text($0.target)) }
        try await onThread {
            let client = try server.client()
            try client.send((0..<500).map { get("/\($0)") }.joined())
            client.finishSending()
            for number in 0..<500 { #expect(try client.answer().text == "/\(number)") }
            #expect(throws: RawHTTPClient.Failure.self) { try client.answer() }
        }
    }

    @Test("A socket without a listener is removed from its path, and nothing else is")
    func stalePath() throws {
        let folder = try TemporaryDirectory()
        let (socket, plain) = (folder.path + "/a.sock", folder.path + "/plain")
        func listen(_ path: String) throws -> [HTTPServer.Address] {
            let server = try HTTPServer(
                configuration: .init(),
                handler: TestServer.Handler(respond: { .now(text($0.target)) }, finished: { _ in })
            ) { _ in [] }
            return try server.listen(on: [.unix(path: path)])
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.utf8) }
        let left = Glibc.socket(AF_UNIX, LINUX_SOCK_STREAM | LINUX_SOCK_CLOEXEC, 0)
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(left, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        close(left)
        close(open(plain, O_CREAT | O_WRONLY, 0o600))

        #expect(bound == 0)
        #expect(try listen(socket).count == 1)
        #expect(throws: SocketError.self) { try listen(plain) }
        #expect(access(plain, F_OK) == 0)
    }

    @Test("Connections are spread evenly over the loops")
    func spread() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.loops = 4
        let server = try TestServer(configuration) { .now(text($0.target)) }
        let clients = try await onThread {
            try (0..<40).map { _ in
                let client = try server.client()
                try client.send(get("/"))
                #expect(try client.answer().status == 200)
                return client
            }
        }
        #expect(server.server.balance.byLoop == [10, 10, 10, 10])
        clients.forEach { $0.hangUp() }
    }

    @Test("A server that is released closes its connections in whatever state they are")
    func letGo() async throws {
        let gate = Gate()
        func serve() async throws -> [RawHTTPClient] {
            var configuration = HTTPServer.Configuration.longTimeouts
            configuration.loops = 2
            let server = try TestServer(configuration) { request in
                guard request.target == "/late" else { return .now(text(request.target)) }
                return .later(context: 0) {
                    await gate.passage()
                    return text("no client gets this")
                }
            }
            return try await onThread {
                try ["", "GET / HT", get("/a"), get("/b", "Connection: close\r\n"), get("/late")].map {
                    bytes in
                    let client = try server.client()
                    try client.send(bytes)
                    if bytes.contains("/a") || bytes.contains("/b") { _ = try client.answer() }
                    return client
                }
            }
        }
        for client in try await serve() {
            let rest = try await onThread { try client.receiveAll() }
            #expect(rest.isEmpty)
            client.hangUp()
        }
        gate.open()
    }

    @Test("Connections are spread over the loops")
    func balance() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.loops = 2
        let server = try TestServer(configuration) { .now(text($0.target)) }
        let clients = try (0..<20).map { _ in try server.client() }
        try await onThread {
            for client in clients {
                try client.send(get("/"))
                _ = try client.answer()
            }
        }
        #expect(server.server.balance.byLoop == [10, 10])
    }
}
