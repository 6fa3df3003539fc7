// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Notifies systemd that the daemon works, each time all of its parts have answered (`WatchdogSec=`).
///
/// A stalled part does not answer. Then no notification follows, and systemd ends the daemon when its
/// interval has passed. The parts are checked at once, and again a third of the interval later.
struct Watchdog<Time: _Concurrency.Clock>: Sendable where Time.Duration == Duration {
    /// A part that must not stall.
    struct Part: Sendable {
        /// Its name, for the log.
        let name: String
        /// Returns when it has answered.
        let answer: @Sendable () async -> Void
    }

    /// The time without a notification after which systemd ends the daemon.
    let interval: Duration
    let parts: [Part]
    let clock: Time
    /// Notifies systemd.
    let notify: @Sendable () -> Void
    /// Receives the names of those that have not answered for half of the interval, for the log.
    let reportError: @Sendable ([String]) -> Void

    /// Checks the parts and notifies systemd until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            let start = clock.now
            await pingAll()
            guard !Task.isCancelled else { return }
            notify()
            do {
                try await clock.sleep(until: start.advanced(by: interval / 3), tolerance: nil)
            } catch {
                return
            }
        }
    }

    /// Returns when all parts have answered.
    private func pingAll() async {
        let unanswered = UnansweredParts(parts.map(\.name))
        let deadline = clock.now.advanced(by: interval / 2)
        let report = Task { [clock, reportError] in
            // Ignored: that all have answered in time.
            guard (try? await clock.sleep(until: deadline, tolerance: nil)) != nil else { return }
            reportError(unanswered.names)
        }
        await withTaskGroup(of: Void.self) { group in
            for (index, part) in parts.enumerated() {
                group.addTask {
                    await part.answer()
                    unanswered.remove(index)
                }
            }
        }
        report.cancel()
    }

    /// The parts that have not answered yet.
    private final class UnansweredParts: Sendable {
        private let waiting: Mutex<[String?]>

        init(_ names: [String]) { waiting = Mutex(names) }

        var names: [String] { waiting.withLock { $0.compactMap(\.self) } }

        func remove(_ index: Int) { waiting.withLock { $0[index] = nil } }
    }
}
