// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("The hash of targets")
struct TargetHashTests {
    private let hash = TargetHash()

    private func hash(_ octets: [UInt8]) -> UInt64 { octets.withUnsafeBytes { hash($0).bits } }

    @Test("The same target has the same hash, wherever it lies in memory")
    func stable() {
        for length in 0...70 {
            let octets = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
            let shifted = [0] + octets
            #expect(hash(octets) == shifted.withUnsafeBytes { hash(.init(rebasing: $0[1...])).bits })
        }
    }

    @Test("Every octet and the length affect the hash")
    func everyOctet() {
        for length in 1...70 {
            let octets = [UInt8](repeating: 0, count: length)
            var hashes: Set<UInt64> = [hash(octets), hash(octets + [0])]
            for index in octets.indices {
                var other = octets
                other[index] = 1
                hashes.insert(hash(other))
            }
            #expect(hashes.count == length + 2)
        }
    }

    @Test("Consecutive numbers spread over all shards")
    func spread() {
        var shards = [Int](repeating: 0, count: 16)
        for number in 0..<16_000 { shards[Int(hash(Array("/img?url=a\(number)".utf8)) >> 40) % 16] += 1 }
        #expect(shards.allSatisfy { (800...1_200).contains($0) })
    }

    @Test("Each table spreads them in its own way")
    func tables() {
        let digests = (0..<16_000).map { number in
            Array("/img?url=a\(number)".utf8).withUnsafeBytes { hash($0) }
        }
        var places = [Int](repeating: 0, count: 16)
        for digest in digests { places[digest._rawHashValue(seed: 1) & 15] += 1 }
        #expect(places.allSatisfy { (800...1_200).contains($0) })
        let unmoved = digests.filter { $0._rawHashValue(seed: 1) & 15 == $0._rawHashValue(seed: 2) & 15 }
        #expect(unmoved.count < 1_500)
    }

    @Test("Another process has other hashes")
    func keyed() {
        let target = Array("/img?url=https%3A%2F%2Fa.example%2Fa.jpg".utf8)
        let others = (0..<8).map { _ in target.withUnsafeBytes { TargetHash()($0) } }
        #expect(Set(others).count == 8)
    }
}
