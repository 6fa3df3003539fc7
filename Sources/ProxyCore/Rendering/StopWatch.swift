// SPDX-License-Identifier: Apache-2.0

/// Measures steps that follow one another.
struct StopWatch {
    private var last = ContinuousClock.now

    /// Returns the microseconds since the previous lap, or since the start.
    mutating func lap() -> Int {
        let now = ContinuousClock.now
        defer { last = now }
        return Self.microseconds(now - last)
    }

    /// Returns a duration in microseconds.
    static func microseconds(_ duration: Duration) -> Int {
        Int(duration / .microseconds(1))
    }
}
