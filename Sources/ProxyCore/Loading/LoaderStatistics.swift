// SPDX-License-Identifier: Apache-2.0

/// The counters and the current state of a loader: the numbers behind the `fetch_` metrics.
public struct LoaderStatistics: Sendable, Hashable {
    /// The number of fetches that hold a slot.
    public internal(set) var inflight = 0
    /// The number of fetches that wait for a slot.
    public internal(set) var queued = 0
    /// The number of body bytes as they were received, including those of failed fetches.
    public internal(set) var bytes = 0
    /// The number of requests sent over a connection that had been used before.
    public internal(set) var reusedConnections = 0
    /// The number of connections that were not reused because of bytes without a request.
    public internal(set) var taintedConnections = 0
    /// The number of requests sent over a new connection.
    public internal(set) var newConnections = 0
    /// The number of redirects followed.
    public internal(set) var redirects = 0
    /// The number of requests sent again after a failure to connect.
    public internal(set) var retries = 0

    /// All counters are 0.
    public init() {}
}
