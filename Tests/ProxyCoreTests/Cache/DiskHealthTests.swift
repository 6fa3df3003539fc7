// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("Disk tier: how it fares")
struct DiskHealthTests {
    private var health = DiskHealth()

    @Test("It is told once that the disk is full, and once that it stores again, after some calm")
    func oncePerChange() {
        var health = health

        #expect(health.failed(with: .full, at: 10) == .full)
        #expect(health.failed(with: .full, at: 11) == nil)
        #expect(health.stored(1, at: 12) == nil)
        #expect(health.failed(with: .full, at: 13) == nil)
        #expect(health.stored(1, at: 13 + DiskHealth.calm) == .working)
        #expect(health.stored(1, at: 30) == nil)
        #expect(health.failed(with: .full, at: 31) == .full)
    }

    @Test("It is told for what reason nothing can be stored, once")
    func failing() {
        var health = health
        let error = DiskCacheError.system(call: "openat", code: 30)

        #expect(health.failed(with: error, at: 10) == .failing(error))
        #expect(health.failed(with: .index("attempt to write a readonly database"), at: 10) == nil)
        #expect(health.failed(with: .full, at: 11) == .full)
        #expect(!health.wantsRecovery)
        _ = health.failed(with: .brokenIndex("malformed"), at: 12)
        #expect(health.wantsRecovery)
    }

    @Test("What is no failure of the disk is no news")
    func otherErrors() {
        var health = health

        for error in [DiskCacheError.overloaded, .purged, .closed, .invalid("short")] {
            #expect(health.failed(with: error, at: 10) == nil)
        }
        #expect(!health.wantsRoom)
    }

    @Test("Entries make room again only when what they freed has been used, or after a while")
    func room() {
        var health = health
        _ = health.failed(with: .full, at: 10)
        #expect(health.wantsRoom)
        health.madeRoom(1_000, at: 10)
        #expect(!health.wantsRoom)

        // Another program has taken it all.
        _ = health.failed(with: .full, at: 11)
        #expect(!health.wantsRoom)
        _ = health.failed(with: .full, at: 10 + DiskHealth.pause)
        #expect(health.wantsRoom)
        health.madeRoom(1_000, at: 100)

        _ = health.stored(500, at: 101)
        _ = health.failed(with: .full, at: 102)
        #expect(health.wantsRoom)
    }
}
