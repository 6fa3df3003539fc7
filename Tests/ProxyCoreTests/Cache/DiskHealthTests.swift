// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Cache

@Suite("Disk tier: reports on its health")
struct DiskHealthTests {
    private var health = DiskHealth()

    @Test("A full disk is reported once, and its recovery once, after some time without failure")
    func oncePerChange() {
        var health = health

        #expect(health.failed(with: .full, at: 10) == .full)
        #expect(health.failed(with: .full, at: 11) == nil)
        #expect(health.stored(1, at: 12) == nil)
        #expect(health.failed(with: .full, at: 13) == nil)
        #expect(health.stored(1, at: 13 + DiskHealth.secondsWithoutFailure) == .working)
        #expect(health.stored(1, at: 30) == nil)
        #expect(health.failed(with: .full, at: 31) == .full)
    }

    @Test("The reason why nothing can be stored is reported once")
    func failing() {
        var health = health
        let error = DiskCacheError.system(call: "openat", code: 30)

        #expect(health.failed(with: error, at: 10) == .failing(error))
        #expect(health.failed(with: .index("attempt to write a readonly database"), at: 10) == nil)
        #expect(health.failed(with: .full, at: 11) == .full)
        #expect(!health.mustReopen)
        _ = health.failed(with: .brokenIndex("malformed"), at: 12)
        #expect(health.mustReopen)
    }

    @Test("A failure that is not the disk's is not reported")
    func otherErrors() {
        var health = health

        for error in [DiskCacheError.overloaded, .purged, .closed, .invalid("short")] {
            #expect(health.failed(with: error, at: 10) == nil)
        }
        #expect(!health.needsSpace)
    }

    @Test("Entries are removed for space again only when the freed space has been used, or after a while")
    func room() {
        var health = health
        _ = health.failed(with: .full, at: 10)
        #expect(health.needsSpace)
        health.freedSpace(1_000, at: 10)
        #expect(!health.needsSpace)

        // Another program has used it all.
        _ = health.failed(with: .full, at: 11)
        #expect(!health.needsSpace)
        _ = health.failed(with: .full, at: 10 + DiskHealth.secondsBetweenRemovals)
        #expect(health.needsSpace)
        health.freedSpace(1_000, at: 100)

        _ = health.stored(500, at: 101)
        _ = health.failed(with: .full, at: 102)
        #expect(health.needsSpace)
    }
}
