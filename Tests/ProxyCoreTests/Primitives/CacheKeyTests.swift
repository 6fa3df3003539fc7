// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("Keys of cache entries")
struct CacheKeyTests {
    private let keys = (0..<4_000).map { CacheKey(canonicalText: "https://a.example/\($0).jpg") }

    @Test("are written and parsed as 32 digits")
    func text() {
        #expect(keys.allSatisfy { CacheKey($0.description) == $0 && $0.description.utf8.count == 32 })
        #expect(CacheKey("0123456789abcdef0123456789abcde") == nil)
        #expect(CacheKey("0123456789abcdef0123456789abcdeg") == nil)
    }

    @Test("spread over a table, differently in each table")
    func tables() {
        var places = [Int](repeating: 0, count: 16)
        for key in keys { places[key._rawHashValue(seed: 7) & 15] += 1 }
        #expect(places.allSatisfy { (150...350).contains($0) })
        // One in sixteen by chance; with some secrets neighbouring seeds coincide more often.
        let together = keys.count { $0._rawHashValue(seed: 7) & 15 == $0._rawHashValue(seed: 8) & 15 }
        #expect(together < 2_000)
    }

    @Test("that an attacker made with equal low bits do not collide in a table")
    func chosen() {
        // An attacker can compute many keys with the same low bits; their positions depend on a secret
        // number.
        let chosen = (0..<4_000).map { CacheKey(high: 0, low: UInt64($0) << 32) }
        var places = [Int](repeating: 0, count: 16)
        for key in chosen { places[key._rawHashValue(seed: 7) & 15] += 1 }
        #expect(places.allSatisfy { (100...400).contains($0) })
    }
}
