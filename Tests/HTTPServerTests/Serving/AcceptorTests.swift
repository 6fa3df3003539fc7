// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("Accepting")
struct AcceptorTests {
    @Test("The listeners that were paused are watched again, once, and no others")
    func resume() throws {
        var acceptor = Acceptor()
        acceptor.listeners = try (0..<3).map { number in
            try Listener(.tcp(host: "127.0.0.1", port: 0), number: number)
        }

        acceptor.pause(acceptor.listeners[1], until: 100)

        #expect(acceptor.resumed(until: 99).isEmpty)
        #expect(acceptor.resumed(until: 100).map(\.number) == [1])
        #expect(acceptor.resumed(until: 200).isEmpty && acceptor.pausedUntil == 0)
    }
}
