// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Keeps the loader's numbers, written by its thread and read by anyone.
final class LoaderLedger: Sendable {
    private let statistics = Mutex(LoaderStatistics())

    /// The numbers now.
    var snapshot: LoaderStatistics { statistics.withLock { $0 } }

    /// Shows how many fetches run and wait.
    func show(running: Int, waiting: Int) {
        statistics.withLock {
            $0.inflight = running
            $0.queued = waiting
        }
    }

    /// Counts the end of a fetch.
    func count(_ outcome: LoadOutcome) {
        statistics.withLock { $0.outcomes[outcome, default: 0] += 1 }
    }

    /// Counts one event.
    func count(_ counter: any WritableKeyPath<LoaderStatistics, Int> & Sendable) {
        statistics.withLock { $0[keyPath: counter] += 1 }
    }

    /// Counts a hop that has ended; one that neither opened nor reused a connection counts for its bytes only.
    func countHop(reused: Bool, opened: Bool, bytes: Int) {
        statistics.withLock {
            $0.bytes += bytes
            if opened {
                $0.newConnections += 1
            } else if reused {
                $0.reusedConnections += 1
            }
        }
    }
}
