// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ProxyCore

@Suite("Whose failure it is")
struct BlameTests {
    /// Keeps what a loader says of it.
    private final class Listener: OriginReceiving {
        let told = Observed([SourceURL.Origin?]())

        func receive(head: OriginHead) {}
        func receive(bytes: UnsafeRawBufferPointer) {}
        func failed(at origin: SourceURL.Origin?) { told.update { $0.append(origin) } }
    }

    private static func culprit(of path: String, _ fixture: LoaderFixture) async throws -> [SourceURL.Origin?]
    {
        let listener = Listener()
        let request = try fixture.request(path)
        await #expect(throws: LoadError.self) { try await fixture.loader.load(request, into: listener) }
        return listener.told.value
    }

    private static func origin(of origin: FakeOrigin) throws -> SourceURL.Origin {
        try SourceURL(parsing: origin.url("/")).origin
    }

    @Test("an origin that uses the time up and then redirects to another does not have that one blamed")
    func slowRedirect() async throws {
        let victim = try FakeOrigin()
        victim.route("/", .silence)
        let fixture = try LoaderFixture { $0.totalTimeout = .milliseconds(500) }
        let redirect = OriginAnswer.head(302, [("Location", victim.url("/")), ("Content-Length", "0")])
        fixture.origin.route(
            "/a",
            OriginAnswer([.trickle(redirect, piece: redirect.count, everyMilliseconds: 480), .stall]))

        // On a busy machine the time is up before the redirect comes, which changes nothing.
        let told = try await Self.culprit(of: "/a", fixture)

        #expect(told == [try Self.origin(of: fixture.origin)])
    }

    @Test("an origin that can't be reached behind a redirect is to blame, and the one who redirected is not")
    func deadTarget() async throws {
        let dead = try ClosedPort()
        let fixture = try LoaderFixture { $0.retries = 0 }
        fixture.origin.route("/a", .redirect(to: dead.url("/")))

        #expect(try await Self.culprit(of: "/a", fixture) == [try SourceURL(parsing: dead.url("/")).origin])
    }

    @Test("an origin that keeps silent is")
    func silence() async throws {
        let fixture = try LoaderFixture { $0.firstByteTimeout = .milliseconds(50) }
        fixture.origin.route("/a", .silence)

        #expect(try await Self.culprit(of: "/a", fixture) == [try Self.origin(of: fixture.origin)])
    }

    @Test("a redirect's target that has only waited for a slot is not")
    func notAsked() async throws {
        let victim = try FakeOrigin()
        victim.route("/held", .silence)
        let fixture = try LoaderFixture {
            $0.maxPerHost = 1
            $0.queueTimeout = .milliseconds(50)
        }
        fixture.origin.route("/a", .redirect(to: victim.url("/next")))
        let loader = fixture.loader
        let held = try OriginRequest(url: SourceURL(parsing: victim.url("/held")))
        let holding = Task { try await loader.load(held, into: CollectingReceiver()) }
        await victim.waitForRequests("/held")

        let told = try await Self.culprit(of: "/a", fixture)
        holding.cancel()

        #expect(told == [nil])
        #expect(victim.count("/next") == 0)
    }

    @Test("the time of the whole is blamed on the one who has used nearly all of it, over all its hops")
    func shares() {
        let start = ContinuousClock.now
        let first = SourceURL.Origin(scheme: "http", host: "a", port: 80)
        let second = SourceURL.Origin(scheme: "http", host: "b", port: 80)
        func culprit(_ hops: [(SourceURL.Origin, Int)]) -> SourceURL.Origin? {
            var times = HopTimes()
            var now = start
            for (origin, seconds) in hops {
                times.begin(origin, at: now)
                now += .seconds(seconds)
                times.end(at: now)
                // Waiting for the next slot is nobody's time.
                now += .seconds(5)
            }
            return times.culprit(of: .seconds(100))
        }

        #expect(culprit([(first, 100)]) == first)
        #expect(culprit([(first, 99), (second, 1)]) == first)
        #expect(culprit([(first, 1), (second, 99)]) == second)
        #expect(culprit([(first, 50), (second, 2), (first, 45)]) == first)
        #expect(culprit([(first, 80), (second, 20)]) == nil)
        #expect(culprit([(first, 2)]) == nil)
        #expect(culprit([]) == nil)
    }
}
