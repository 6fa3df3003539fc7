// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Spans that wait to be exported. Bounded in number and in bytes: a further one is dropped, and counted. Safe from any
/// thread.
package final class SpanQueue: Sendable {
    /// What became of the spans so far.
    package struct Counts: Sendable, Hashable {
        /// Taken by the collector.
        package var exported = 0
        /// Dropped because too many waited.
        package var dropped = 0
        /// Refused by the collector, or not delivered.
        package var failed = 0

        /// Nothing yet.
        package init() {}

        init(exported: Int, dropped: Int, failed: Int) {
            (self.exported, self.dropped, self.failed) = (exported, dropped, failed)
        }
    }

    private struct State {
        var spans: [Span] = []
        var bytes = 0
        var counts = Counts()
    }

    private let maxSpans: Int
    private let maxBytes: Int
    private let batch: Int
    private let state = Mutex(State())
    private let isFull: @Sendable () -> Void

    /// - Parameters:
    ///   - maxSpans: how many may wait.
    ///   - maxBytes: about what the spans may take in memory.
    ///   - batch: how many spans are exported at once.
    ///   - isFull: called when a batch is complete.
    package init(
        maxSpans: Int, maxBytes: Int = 4 << 20, batch: Int, isFull: @escaping @Sendable () -> Void = {}
    ) {
        (self.maxSpans, self.maxBytes, self.batch, self.isFull) = (maxSpans, maxBytes, batch, isFull)
    }

    /// Appends a span, or drops it.
    func insert(_ span: Span) {
        let cost = span.cost
        let isBatch = state.withLock { state in
            guard state.spans.count < maxSpans, state.bytes + cost <= maxBytes else {
                state.counts.dropped += 1
                return false
            }
            state.spans.append(span)
            state.bytes += cost
            return state.spans.count == batch
        }
        if isBatch { isFull() }
    }

    /// Takes the spans that have waited longest, at most a batch.
    package func take() -> [Span] {
        state.withLock { state in
            let taken = Array(state.spans.prefix(batch))
            state.spans.removeFirst(taken.count)
            state.bytes -= taken.reduce(0) { $0 + $1.cost }
            return taken
        }
    }

    /// Whether a batch is complete.
    package var hasBatch: Bool { state.withLock { $0.spans.count >= batch } }

    /// Counts spans that were taken.
    package func count(exported: Int = 0, failed: Int = 0) {
        state.withLock { state in
            state.counts.exported += exported
            state.counts.failed += failed
        }
    }

    package var counts: Counts { state.withLock(\.counts) }
}
