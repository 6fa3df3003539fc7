// SPDX-License-Identifier: Apache-2.0

/// The configured times in nanoseconds, from which deadlines are computed.
struct LoopTimes {
    let header: UInt64
    let idle: UInt64
    let body: UInt64
    let write: UInt64
    /// Bytes that a client must read within `write`.
    let leastTaken: Int
    /// The same within `linger`.
    let leastTakenLingering: Int
    let request: UInt64
    /// How long a connection stays open after its last answer, so that the client receives all of it.
    let linger: UInt64
    /// How long a connection may stay without a request while the server drains, and how long its client's
    /// FIN is awaited then.
    let drainGrace: UInt64, drainLinger: UInt64

    init(_ configuration: HTTPServer.Configuration) {
        header = Self.nanoseconds(configuration.headerTimeout)
        idle = Self.nanoseconds(configuration.idleTimeout)
        body = Self.nanoseconds(configuration.bodyTimeout)
        write = Self.nanoseconds(configuration.writeTimeout)
        let rate = Double(max(0, configuration.minSendRate))
        leastTaken = Self.least(rate, within: write)
        linger = Self.nanoseconds(configuration.closeTimeout)
        drainGrace = Self.nanoseconds(configuration.drainGrace)
        drainLinger = min(linger, drainGrace / 2)
        leastTakenLingering = Self.least(rate, within: linger)
        request = Self.nanoseconds(configuration.requestTimeout)
    }

    private static func least(_ rate: Double, within time: UInt64) -> Int {
        max(1, Int(min(rate * Double(time) / 1e9, Double(Int32.max))))
    }

    private static func nanoseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        return UInt64(max(0, seconds)) * 1_000_000_000 + UInt64(max(0, attoseconds) / 1_000_000_000)
    }
}
