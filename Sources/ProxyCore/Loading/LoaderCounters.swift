// SPDX-License-Identifier: Apache-2.0

import Synchronization

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

    /// Counts one event.
    func count(_ counter: any WritableKeyPath<LoaderStatistics, Int> & Sendable) {
        statistics.withLock { $0[keyPath: counter] += 1 }
    }

    /// Counts a finished hop; one that neither opened nor reused a connection counts only its bytes.
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
