// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Loading
@testable import Primitives

@Suite("A fetch that is ended")
struct CurlLoaderEndingTests {
    // MARK: - Cancellation

    @Test("stops at the origin when its task is cancelled, before the head or within the body")
    func cancellation() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/silent", .silence)
        fixture.origin.route("/body", .stalling(after: [1, 2, 3], declaring: 10))
        let receiver = CollectingReceiver()
        let silent = Task { try await fixture.load("/silent") }
        let body = Task { try await fixture.load("/body", into: receiver) }
        await fixture.origin.waitForRequests("/silent")
        await receiver.received.wait { $0.bytes.count == 3 }

        silent.cancel()
        body.cancel()

        await #expect(throws: LoadError.cancelled) { try await silent.value }
        await #expect(throws: LoadError.cancelled) { try await body.value }
        await fixture.origin.waitForDepartures("/silent")
        await fixture.origin.waitForDepartures("/body")
        #expect(fixture.loader.statistics.inflight == 0)
    }

    @Test("sends no request if its task was cancelled before it began")
    func cancelledBefore() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/a", .body([1]))
        let gate = Gate()
        let task = Task {
            await gate.passage()
            return try await fixture.load("/a")
        }

        task.cancel()
        gate.open()

        await #expect(throws: LoadError.cancelled) { try await task.value }
        #expect(fixture.origin.count("/a") == 0)
    }

    @Test("ends with the loader, which then accepts no fetch and answers no ping")
    func stop() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/a", .silence)
        let task = Task { try await fixture.load("/a") }
        await fixture.origin.waitForRequests("/a")
        #expect(await fixture.loader.ping())

        await fixture.loader.stop()

        await #expect(throws: LoadError.cancelled) { try await task.value }
        await #expect(throws: LoadError.cancelled) { try await fixture.load("/a") }
        #expect(await !fixture.loader.ping())
        await fixture.loader.stop()
        await fixture.origin.waitForDepartures("/a")
    }

    @Test("leaves nothing behind, also when many are started and cancelled at random")
    func storm() async throws {
        let fixture = try LoaderFixture {
            $0.maxConcurrent = 8
            $0.maxPerHost = 8
        }
        fixture.origin.route("/quick", .body([1]))
        fixture.origin.route("/silent", .silence)

        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                let task = Task { try await fixture.load(index.isMultiple(of: 4) ? "/silent" : "/quick") }
                group.addTask {
                    if index.isMultiple(of: 2) { task.cancel() }
                    _ = await task.result
                }
            }
        }

        let statistics = fixture.loader.statistics
        #expect(statistics.inflight == 0)
        #expect(statistics.queued == 0)
    }

    // MARK: - Deadlines

    @Test("ends if the first byte does not arrive in time")
    func firstByte() async throws {
        let fixture = try LoaderFixture(by: ManualTime()) { $0.firstByteTimeout = .seconds(15) }
        fixture.origin.route("/a", .silence)
        let load = Task { try await fixture.load("/a") }
        await fixture.origin.waitForRequests("/a")

        await fixture.pass(.seconds(15))
        await #expect(throws: LoadError.timedOut(.firstByte)) { try await load.value }
        await fixture.origin.waitForDepartures("/a")
    }

    @Test("ends if the body arrives too slowly")
    func lowSpeed() async throws {
        let fixture = try LoaderFixture(by: ManualTime()) {
            $0.lowSpeedTime = .seconds(10)
            $0.lowSpeed = .kibibytes(64)
        }
        fixture.origin.route("/a", .stalling(after: [1], declaring: 10))
        let receiver = CollectingReceiver()
        let load = Task { try await fixture.load("/a", into: receiver) }
        await receiver.received.wait { $0.bytes.count == 1 }

        await fixture.pass(.seconds(10))
        await #expect(throws: LoadError.timedOut(.transfer)) { try await load.value }
        await fixture.origin.waitForDepartures("/a")
    }

    @Test("ends if it takes too long, including redirects")
    func total() async throws {
        let fixture = try LoaderFixture(by: ManualTime()) { $0.totalTimeout = .seconds(60) }
        let gate = OriginGate()
        fixture.origin.route("/a", OriginAnswer.redirect(to: "/b").held(by: gate))
        fixture.origin.route("/b", .silence)
        let load = Task { try await fixture.load("/a") }
        await fixture.origin.waitForRequests("/a")
        await fixture.pass(.seconds(59))
        gate.open()
        await fixture.origin.waitForRequests("/b")

        await fixture.pass(.seconds(1))
        await #expect(throws: LoadError.timedOut(.transfer)) { try await load.value }
        await fixture.origin.waitForDepartures("/b")
    }

    @Test("ends if the TLS handshake takes too long, which counts as connecting")
    func connect() async throws {
        let fixture = try LoaderFixture(by: ManualTime()) { $0.connectTimeout = .seconds(5) }
        let silent = try FakeOrigin(refusesTLS: false)
        let url = "https://127.0.0.1:\(silent.port)/"
        let load = Task { try await fixture.load(absolute: url) }
        await silent.wait { $0.connections == 1 }

        await fixture.pass(.seconds(5))
        await #expect(throws: LoadError.timedOut(.connect)) { try await load.value }
    }
}
