// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Loading
@testable import Primitives

@Suite("Fetches that wait")
struct CurlLoaderQueueTests {
    @Test("run at most as many to one origin as allowed, and all run eventually")
    func perHost() async throws {
        let fixture = try LoaderFixture { $0.maxPerHost = 2 }
        let gate = OriginGate()
        fixture.origin.route("/a", .body([1]).held(by: gate))
        let other = try FakeOrigin()
        other.route("/b", .body([2]))

        let fetches = (0..<5).map { _ in Task { try await fixture.load("/a") } }
        await fixture.origin.waitForRequests("/a", count: 2)
        // Another origin has its own slots; when its fetch ends, the loader has handled all earlier commands.
        try await fixture.load(absolute: other.url("/b"))
        #expect(fixture.origin.count("/a") == 2)

        gate.open()
        for fetch in fetches { _ = try await fetch.value }
        #expect(fixture.origin.count("/a") == 5)
        #expect(fixture.origin.log.connections == 2)
    }

    @Test("are refused and counted beyond the queue's bound")
    func full() async throws {
        let fixture = try LoaderFixture {
            $0.maxConcurrent = 1
            $0.queue = 1
        }
        let gate = OriginGate()
        fixture.origin.route("/a", .body([1]).held(by: gate))
        let first = Task { try await fixture.load("/a") }
        await fixture.origin.waitForRequests("/a")
        let second = Task { try await fixture.load("/a") }
        while fixture.loader.statistics.queued < 1 { #expect(await fixture.loader.ping()) }

        await #expect(throws: LoadError.queueFull) { try await fixture.load("/a") }
        #expect(fixture.loader.statistics.inflight == 1)

        gate.open()
        _ = try await first.value
        _ = try await second.value
        #expect(fixture.loader.statistics.inflight == 0)
    }

    @Test("time out if no slot becomes free")
    func timeout() async throws {
        let fixture = try LoaderFixture(by: ManualTime()) {
            $0.maxConcurrent = 1
            $0.queueTimeout = .seconds(30)
        }
        let gate = OriginGate()
        fixture.origin.route("/a", .body([1]).held(by: gate))
        let first = Task { try await fixture.load("/a") }
        await fixture.origin.waitForRequests("/a")
        let second = Task { try await fixture.load("/a") }
        while fixture.loader.statistics.queued < 1 { #expect(await fixture.loader.ping()) }

        await fixture.pass(.seconds(30))
        await #expect(throws: LoadError.queueTimedOut) { try await second.value }

        gate.open()
        _ = try await first.value
        #expect(fixture.origin.count("/a") == 1)
    }

    @Test("leave the queue when they are cancelled, without a request")
    func cancelled() async throws {
        let fixture = try LoaderFixture { $0.maxConcurrent = 1 }
        let gate = OriginGate()
        fixture.origin.route("/a", .body([1]).held(by: gate))
        fixture.origin.route("/b", .body([1]))
        let first = Task { try await fixture.load("/a") }
        await fixture.origin.waitForRequests("/a")
        let second = Task { try await fixture.load("/b") }

        second.cancel()
        await #expect(throws: LoadError.cancelled) { try await second.value }
        gate.open()
        _ = try await first.value

        #expect(fixture.origin.count("/b") == 0)
        #expect(fixture.loader.statistics.queued == 0)
    }

    @Test("use changed bounds at once")
    func adopts() async throws {
        let fixture = try LoaderFixture {
            $0.maxPerHost = 1
            $0.queue = 0
        }
        let gate = OriginGate()
        fixture.origin.route("/a", .body([1]).held(by: gate))
        let first = Task { try await fixture.load("/a") }
        await fixture.origin.waitForRequests("/a")
        await #expect(throws: LoadError.queueFull) { try await fixture.load("/a") }

        var configuration = fixture.configuration
        configuration.maxPerHost = 2
        configuration.queue = 1
        try fixture.loader.adopt(configuration, addresses: fixture.addresses)
        let second = Task { try await fixture.load("/a") }
        await fixture.origin.waitForRequests("/a", count: 2)
        let third = Task { try await fixture.load("/a") }
        while fixture.loader.statistics.queued < 1 { #expect(await fixture.loader.ping()) }
        configuration.maxPerHost = 3
        try fixture.loader.adopt(configuration, addresses: fixture.addresses)
        await fixture.origin.waitForRequests("/a", count: 3)

        gate.open()
        for fetch in [first, second, third] { _ = try await fetch.value }
    }

    @Test("keep their settings if the new ones are invalid")
    func adoptsNothing() throws {
        let fixture = try LoaderFixture()
        var configuration = FetchConfiguration()
        configuration.headers = ["Host": "a"]

        #expect(throws: CurlLoader.SetupError.invalidField("Host")) {
            try fixture.loader.adopt(configuration, addresses: fixture.addresses)
        }
    }

}
