// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

/// A server on a unix socket and a loopback port, with a handler made of closures.
final class TestServer: Sendable {
    final class Handler: RequestHandling {
        let respond: @Sendable (HTTPRequest) -> HTTPAnswer
        let finished: @Sendable (HTTPExchange) -> Void

        init(
            respond: @escaping @Sendable (HTTPRequest) -> HTTPAnswer,
            finished: @escaping @Sendable (HTTPExchange) -> Void
        ) {
            self.respond = respond
            self.finished = finished
        }

        func answer(_ request: HTTPRequest) -> HTTPAnswer { respond(request) }
        func takesContent(of request: HTTPRequest) -> Bool { request.target != "/no-content" }
        func isVital(_ request: HTTPRequest) -> Bool { request.target == "/health" }
        func didFinish(_ exchange: HTTPExchange) { finished(exchange) }
    }

    let server: HTTPServer
    let path: String
    let port: UInt16
    /// Every exchange that has ended, in order.
    let exchanges: Observed<[HTTPExchange]>
    /// How many connections have been accepted and have ended.
    private let changes: Observed<Int>
    private static let number = Atomic<Int>(0)

    /// - Parameter time: by which its timeouts pass; the system's by default.
    init(
        _ configuration: HTTPServer.Configuration = .longTimeouts, by time: ManualTime? = nil,
        finished: @escaping @Sendable (HTTPExchange) -> Void = { _ in },
        respond: @escaping @Sendable (HTTPRequest) -> HTTPAnswer
    ) throws {
        path = "/tmp/http-\(getpid())-\(Self.number.add(1, ordering: .relaxed).newValue).sock"
        let exchanges = Observed<[HTTPExchange]>([])
        self.exchanges = exchanges
        let handler = Handler(respond: respond) { exchange in
            exchanges.update { $0.append(exchange) }
            finished(exchange)
        }
        let changes = Observed(0)
        self.changes = changes
        var configuration = configuration
        configuration.connectionsChanged = { _ in changes.update { $0 += 1 } }
        if time != nil { configuration.checkInterval = .milliseconds(1) }
        server = try HTTPServer(
            configuration: configuration, handler: handler,
            clock: time.map { time in LoopClock { time.nanoseconds } } ?? .system,
            date: { _ in Array("Sun, 06 Nov 1994 08:49:37 GMT".utf8) })
        let bound = try server.listen(on: [.unix(path: path), .tcp(host: "127.0.0.1", port: 0)])
        guard case .tcp(_, let port)? = bound.last else { throw SocketError(call: "bind", code: EINVAL) }
        self.port = port
        try server.start()
    }

    deinit { unlink(path) }

    func client() throws -> RawHTTPClient { try RawHTTPClient(unixSocket: path) }

    /// A client over TCP, so that it can reset its connection.
    func networkClient(from source: UInt32? = nil) throws -> RawHTTPClient {
        try RawHTTPClient(port: port, from: source)
    }

    /// How often the server refused for this reason.
    func rejections(_ reason: HTTPServer.RejectionReason) -> Int {
        server.counts.rejected[reason, default: 0]
    }

    /// Waits until no connection is left.
    func emptiness() async {
        await counts { $0.connections == 0 }
    }

    /// Waits until the server's counts satisfy a condition.
    func counts(_ condition: @escaping @Sendable (HTTPServer.Counts) -> Bool) async {
        _ = await changes.wait { [server] _ in condition(server.counts) }
    }

    /// Lets time pass until no connection is left, however many timeouts that takes.
    func emptiness(after time: ManualTime) async {
        while server.counts.connections > 0 {
            time.advance(by: .seconds(86_400))
            await server.ping()
        }
    }

    /// Lets the time pass that a draining server leaves to clients without a request; each receives an orderly end
    /// then, and its connection ends without its doing.
    func passGrace(of clients: [RawHTTPClient], by time: ManualTime) async throws {
        let grace = HTTPServer.Configuration.longTimeouts.drainGrace
        time.advance(by: grace)
        try await onThread {
            for client in clients { #expect(client.receivesEnd()) }
        }
        time.advance(by: grace / 2)
    }

    /// Drains without waiting for handshakes that take a while.
    /// - Parameter whenDraining: called when every loop drains.
    func drain(whenDraining: () async throws -> Void = {}) async rethrows {
        let time = SteppedTime()
        async let drained: Void = server.drain(within: .seconds(86_400), by: time)
        // The time for handshakes, and that after which the rest is cut.
        await time.advance(by: HTTPServer.handshakeTime, when: 2)
        do { try await whenDraining() } catch {
            await time.advance(by: .seconds(86_400), when: 1)
            throw error
        }
        await drained
    }

    /// Drains, and cuts at once what has not ended.
    func cut() async {
        let time = SteppedTime()
        async let drained: Void = server.drain(within: .seconds(86_400), by: time)
        await time.advance(by: HTTPServer.handshakeTime, when: 2)
        await time.advance(by: .seconds(86_400), when: 1)
        await drained
    }
}

/// An answer with a text.
func text(_ text: String) -> HTTPResponse {
    var response = HTTPResponse(status: .ok)
    response.body = .bytes(Array(text.utf8))
    return response
}

/// A plain request with further lines.
func get(_ target: String, _ lines: String = "") -> String {
    "GET \(target) HTTP/1.1\r\nHost: a\r\n\(lines)\r\n"
}

/// A file without a name.
final class AnonymousFile: Sendable {
    let descriptor: CInt
    let length: Int

    init(_ bytes: [UInt8]) throws {
        let path = "/tmp/http-file-\(getpid())-\(UInt64.random(in: .min ... .max))"
        descriptor = linux_open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
        length = bytes.count
        unlink(path)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw SocketError(call: "write", code: errno)
        }
    }

    deinit { close(descriptor) }

    /// Part of it as a body.
    func body(_ range: Range<Int>) -> HTTPBody {
        .file(
            descriptor: descriptor, offset: Int64(range.lowerBound), length: Int64(range.count), owner: self)
    }
}

extension HTTPServer.Configuration {
    /// No timeout is short enough to expire while a machine is busy with other tests; tests set the ones that
    /// they test.
    static var longTimeouts: HTTPServer.Configuration {
        var configuration = HTTPServer.Configuration()
        configuration.headerTimeout = .seconds(86_400)
        configuration.idleTimeout = .seconds(86_400)
        configuration.bodyTimeout = .seconds(86_400)
        configuration.writeTimeout = .seconds(86_400)
        configuration.requestTimeout = .seconds(86_400)
        configuration.closeTimeout = .seconds(3_600)
        return configuration
    }
}
