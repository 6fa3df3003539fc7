// SPDX-License-Identifier: Apache-2.0

import HTTPServer
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("The watchdog")
struct WatchdogTests {
    /// Answers every request on its loop, once the gate is open.
    private final class Stalling: RequestHandling {
        let gate = DispatchGate()
        let hasStalled = Observed(false)

        func answer(_ request: HTTPRequest) -> HTTPAnswer {
            if request.target == "/stall" {
                hasStalled.update { $0 = true }
                gate.pass()
            }
            return .now(HTTPResponse(status: .ok))
        }

        func didFinish(_ exchange: HTTPExchange) {}
    }

    private func watchdog(
        _ parts: [Watchdog<SteppedTime>.Part], _ time: SteppedTime, _ notes: Observed<[String]>
    ) -> Watchdog<SteppedTime> {
        Watchdog(
            interval: .seconds(30), parts: parts, clock: time,
            notify: { notes.update { $0.append("alive") } },
            reportError: { names in notes.update { $0.append("silent: " + names.joined(separator: ", ")) } })
    }

    @Test(
        "While a loop stalls, systemd gets no sign of life, and the log names the loop; once it continues, the signs resume"
    )
    func stalledLoop() async throws {
        let handler = Stalling()
        let folder = try TemporaryDirectory()
        let server = try HTTPServer(configuration: HTTPServer.Configuration(), handler: handler)
        _ = try server.listen(on: [.unix(path: folder.path + "/s.sock")])
        try server.start()
        let (time, notes) = (SteppedTime(), Observed<[String]>([]))
        let parts = [
            Watchdog<SteppedTime>.Part(name: "disk writer") {},
            Watchdog<SteppedTime>.Part(name: "event loop 0") { await server.ping(loop: 0) },
        ]
        let task = Task { [watchdog = watchdog(parts, time, notes)] in await watchdog.run() }

        await notes.wait { $0 == ["alive"] }
        let client = try RawHTTPClient(unixSocket: folder.path + "/s.sock")
        try client.send("GET /stall HTTP/1.1\r\nHost: a\r\n\r\n")
        await handler.hasStalled.wait { $0 }
        // Checked again a third of the interval later, and reported half an interval after that.
        await time.advance(by: .seconds(10), when: 1)
        await time.advance(by: .seconds(15), when: 1)
        await notes.wait { $0.count == 2 }
        #expect(notes.value == ["alive", "silent: event loop 0"])
        handler.gate.open()
        await notes.wait { $0.count == 3 }

        #expect(notes.value == ["alive", "silent: event loop 0", "alive"])
        task.cancel()
        client.hangUp()
    }

    @Test("systemd gets READY, and then regular signs of life as long as all parts answer")
    func daemon() async throws {
        let proxy = try await Proxy(environment: ["WATCHDOG_USEC=300000"])

        var reports = 0
        while reports < 3 {
            if try await proxy.daemon.notification().contains("WATCHDOG=1") { reports += 1 }
        }
        #expect(try await proxy.get("/healthz").status == 200)
    }
}
