// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Pseudo-random numbers that are the same in every run.
struct Random {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// The finaliser of SplitMix64.
    static func mixed(_ value: UInt64) -> UInt64 {
        var bits = value &+ 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// A number in 0..<1.
    mutating func fraction() -> Double {
        state &+= 1
        return Double(Self.mixed(state) >> 11) / Double(1 << 53)
    }
}

/// The sequence of requested pictures.
struct Trace {
    /// The kind of a trace.
    let name: String
    private let cumulative: [Double]
    private let scanEvery: Int
    private let scanLength: Int
    private let strangers: Double
    private let driftEvery: Int
    private var random = Random()
    private var count = 0
    private var unknown: UInt64 = 1 << 40
    private var scanLeft = 0

    private static let objects = 100_000

    /// Popularity by Zipf's law alone, with scans, with pictures requested once, and with a slowly changing
    /// popularity.
    static var all: [Trace] {
        [
            Trace("Zipf 0.8 of 100,000", exponent: 0.8),
            Trace("Zipf 1.0 of 100,000", exponent: 1.0),
            Trace(
                "Zipf 0.8, a scan of 10,000 each 50,000", exponent: 0.8, scanEvery: 50_000, scanLength: 10_000
            ),
            Trace("Zipf 1.0, a third requested once only", exponent: 1.0, strangers: 1.0 / 3),
            Trace("Zipf 0.8, a new favourite each 100", exponent: 0.8, driftEvery: 100),
        ]
    }

    private init(
        _ name: String, exponent: Double, scanEvery: Int = 0, scanLength: Int = 0, strangers: Double = 0,
        driftEvery: Int = 0
    ) {
        self.name = name
        self.scanEvery = scanEvery
        self.scanLength = scanLength
        self.strangers = strangers
        self.driftEvery = driftEvery
        var sum = 0.0
        cumulative = (1...Self.objects).map { rank in
            sum += pow(Double(rank), -exponent)
            return sum
        }
    }

    /// Returns the next picture's number.
    mutating func next() -> UInt64 {
        count += 1
        if scanEvery > 0, count % scanEvery == 0 { scanLeft = scanLength }
        if scanLeft > 0 || (strangers > 0 && random.fraction() < strangers) {
            scanLeft = max(0, scanLeft - 1)
            unknown += 1
            return unknown
        }
        let rank = rankOfNext()
        // With each change the ranks move by one: the first becomes the second, and a new picture becomes the
        // first.
        let shift = driftEvery > 0 ? count / driftEvery : 0
        return UInt64(rank < shift ? (1 << 30) + shift - rank : rank - shift)
    }

    private mutating func rankOfNext() -> Int {
        let wanted = random.fraction() * (cumulative.last ?? 0)
        var (low, high) = (0, cumulative.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if cumulative[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
