// SPDX-License-Identifier: Apache-2.0

/// What a loader has done so far and does now: the numbers behind the `fetch_` metrics.
public struct LoaderStatistics: Sendable, Hashable {
    /// Fetches that hold a slot.
    public internal(set) var inflight = 0
    /// Fetches that wait for a slot.
    public internal(set) var queued = 0
    /// Fetches that have ended, by outcome.
    public internal(set) var outcomes: [LoadOutcome: Int] = [:]
    /// Bytes of bodies as they were received; those of failed fetches too.
    public internal(set) var bytes = 0
    /// Requests sent over a connection that had been used before.
    public internal(set) var reusedConnections = 0
    /// Connections that were not used again, because bytes were on them that nobody had asked for.
    public internal(set) var taintedConnections = 0
    /// Requests sent over a new connection.
    public internal(set) var newConnections = 0
    /// Redirects followed.
    public internal(set) var redirects = 0
    /// Requests sent again after a failure to connect.
    public internal(set) var retries = 0

    /// Fetches that have ended, whichever way.
    public var total: Int { outcomes.values.reduce(0, +) }

    /// Nothing counted.
    public init() {}
}
