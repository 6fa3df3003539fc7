// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The counters and the current state of a loader: the numbers behind `fetch_connections_total`, `fetch_keys_total`,
/// `fetch_in_progress` and `fetch_queue`; the pipeline counts the other `fetch_` metrics.
package struct LoaderStatistics: Sendable, Hashable {
    /// The number of fetches that hold a slot.
    package internal(set) var inflight = 0
    /// The maximum of `inflight`.
    package internal(set) var maxInflight = 0
    /// The number of fetches that wait for a slot.
    package internal(set) var queued = 0
    /// The maximum of `queued`.
    package internal(set) var maxQueued = 0
    /// The number of requests sent over a connection that had been used before.
    package internal(set) var reusedConnections = 0
    /// The number of connections that were not reused because of bytes without a request.
    package internal(set) var taintedConnections = 0
    /// The number of requests sent over a new connection.
    package internal(set) var newConnections = 0
    /// The number of requests sent again after a failure to connect.
    package internal(set) var retries = 0

    /// How often a source of keys has given some.
    package internal(set) var keyRefreshes = 0
    /// How often it has given none.
    package internal(set) var failedKeyRefreshes = 0

    /// All counters are 0.
    package init() {}
}

/// The loader's counters, written by its thread and read by any thread.
final class LoaderCounters: Sendable {
    private let statistics = Mutex(LoaderStatistics())

    /// The current values.
    var snapshot: LoaderStatistics { statistics.withLock { $0 } }

    /// Sets the numbers of running and waiting fetches.
    func show(running: Int, waiting: Int) {
        statistics.withLock {
            $0.inflight = running
            $0.queued = waiting
        }
    }

    /// Sets the maximum numbers of running and waiting fetches.
    func bound(by configuration: FetchConfiguration) {
        statistics.withLock {
            $0.maxInflight = configuration.maxConcurrent
            $0.maxQueued = configuration.queue
        }
    }

    /// Counts one event.
    func count(_ counter: any WritableKeyPath<LoaderStatistics, Int> & Sendable) {
        statistics.withLock { $0[keyPath: counter] += 1 }
    }

    /// Counts the connection of a finished hop.
    func countHop(reused: Bool, opened: Bool) {
        statistics.withLock {
            if opened {
                $0.newConnections += 1
            } else if reused {
                $0.reusedConnections += 1
            }
        }
    }
}
