// SPDX-License-Identifier: Apache-2.0

/// The counters and the current state of a loader: the numbers behind the `fetch_` metrics.
package struct LoaderStatistics: Sendable, Hashable {
    /// The number of fetches that hold a slot.
    package internal(set) var inflight = 0
    /// The number of fetches that wait for a slot.
    package internal(set) var queued = 0
    /// The number of body bytes as they were received, including those of failed fetches.
    package internal(set) var bytes = 0
    /// The number of requests sent over a connection that had been used before.
    package internal(set) var reusedConnections = 0
    /// The number of connections that were not reused because of bytes without a request.
    package internal(set) var taintedConnections = 0
    /// The number of requests sent over a new connection.
    package internal(set) var newConnections = 0
    /// The number of redirects followed.
    package internal(set) var redirects = 0
    /// The number of requests sent again after a failure to connect.
    package internal(set) var retries = 0

    /// All counters are 0.
    package init() {}
}
