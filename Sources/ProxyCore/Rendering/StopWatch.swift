// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Measures steps that follow one another.
struct StopWatch {
    private var last = ContinuousClock.now

    /// Returns the microseconds since the previous lap, or since the start.
    mutating func lap() -> Int {
        let now = ContinuousClock.now
        defer { last = now }
        return (now - last).inMicroseconds
    }
}
