// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import HTTPServer

@Suite("Slow clients")
struct SlowClientTests {
    private static let large = [UInt8](repeating: 0x61, count: 8 << 20)

    @Test("A client that reads its answer below the lowest rate is cut, however steadily it reads")
    func tricklingReader() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        // No client reads so much byte by byte.
        configuration.minSendRate = 1 << 30
        let time = ManualTime()
        let server = try TestServer(configuration, by: time) { _ in
            var response = HTTPResponse(status: .ok)
            response.body = .bytes(Self.large)
            return .now(response)
        }
        let end = try await onThread {
            let client = try server.networkClient()
            defer { client.hangUp() }
            try client.send(get("/"))
            while server.rejections(.writeTimeout) == 0 {
                _ = try client.bytes(1)
                time.advance(by: .seconds(1))
            }
            do {
                while true { _ = try client.bytes(65_536) }
            } catch let failure as RawHTTPClient.Failure {
                return failure.description
            }
        }
        // A reset, since after an orderly end the kernel would continue to offer the rest.
        #expect(end == "the connection ended (-1, \(ECONNRESET))")
        let exchange = try #require(await server.exchanges.wait { !$0.isEmpty }.first)
        #expect(exchange.wasCut)
    }
}
