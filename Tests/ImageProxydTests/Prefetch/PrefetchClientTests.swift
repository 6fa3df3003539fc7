// SPDX-License-Identifier: Apache-2.0

import HTTPServer
import Primitives
import Synchronization
import TestSupport
import Testing

@testable import ImageProxyd

@Suite("prefetch, a broken connection")
struct PrefetchClientTests {
    /// Answers as the daemon does, but resets the first connection that adds to the order.
    private final class Daemon: Sendable {
        let origin: FakeOrigin
        let token = PrefetchProgress.newToken()

        private struct State {
            var urls = 0
            var hasBroken = false
        }
        private let state = Mutex(State())

        /// - Parameter receives: whether it takes the piece that it does not answer.
        init(receives: Bool) throws {
            origin = try FakeOrigin()
            origin.routeAll { [self] request in
                let isBroken = state.withLock { state in
                    guard request.method == "POST" else { return false }
                    let breaks = request.path != "/prefetch" && !state.hasBroken
                    if !breaks || receives { state.urls += Self.count(request.content) }
                    state.hasBroken = state.hasBroken || breaks
                    return breaks
                }
                return isBroken ? OriginAnswer([.reset]) : progress(of: request)
            }
        }

        private static func count(_ content: [UInt8]) -> Int {
            var parser = JSONParser(content)
            guard let json = try? parser.parse(), case .array(let urls)? = json["urls"] else { return 0 }
            return urls.count
        }

        private func progress(of request: OriginHTTPRequest) -> OriginAnswer {
            var progress = PrefetchProgress(token: token)
            progress.urls = state.withLock(\.urls)
            if request.method == "GET" { (progress.state, progress.ended) = (.done, 1) }
            let status = request.method == "GET" ? 200 : 202
            let head = OriginAnswer.head(status, [("Content-Type", "application/json")])
            return OriginAnswer([.send(head + (progress.json.compact + "\n").utf8), .close])
        }
    }

    /// The progress after an order in two pieces, and how often the second one was sent.
    private static func order(_ daemon: Daemon) async throws -> (progress: PrefetchProgress, pieces: Int) {
        let address = try HTTPServer.Address(parsing: "127.0.0.1:\(daemon.origin.port)")
        let progress = try await onThread {
            let client = PrefetchClient(AdminClient(addresses: [address], token: nil), members: []) { _, _ in
            }
            // The first piece is sent when it is full.
            for number in 1...4_001 { try client.add("http://origin.test/\(number).jpg") }
            return try client.finish()
        }
        let log = await daemon.origin.wait { _ in true }
        let pieces = log.requests.count { $0.method == "POST" && $0.path != "/prefetch" }
        return (progress, pieces)
    }

    @Test("A piece that the daemon has received without an answer is not sent again (RFC 9110 §9.2.2)")
    func received() async throws {
        let (progress, pieces) = try await Self.order(try Daemon(receives: true))

        #expect(progress.urls == 4_001 && pieces == 1)
    }

    @Test("A piece that the daemon has not received is sent again")
    func lost() async throws {
        let (progress, pieces) = try await Self.order(try Daemon(receives: false))

        #expect(progress.urls == 4_001 && pieces == 2)
    }
}
