// SPDX-License-Identifier: Apache-2.0

/// Decides which requests are traced, and begins their traces. Safe from any thread.
package struct Tracer: Sendable {
    /// Which requests are traced (OpenTelemetry, "Sampler").
    package struct Sampler: Sendable, Hashable {
        /// Whether the caller's word decides where a request has a `traceparent`.
        var followsParent = true
        /// The share of the other requests, 0 to 1.
        package var ratio = 1.0

        package init(followsParent: Bool = true, ratio: Double = 1) {
            (self.followsParent, self.ratio) = (followsParent, ratio)
        }

        func samples(_ trace: UInt128, _ parent: TraceContext?) -> Bool {
            if followsParent, let parent { return parent.isSampled }
            // The trace's own digits are the chance, so that all who look at them decide alike.
            return Double(UInt64(truncatingIfNeeded: trace) >> 11) * 0x1p-53 < ratio
        }
    }

    private let sampler: Sampler
    private let queue: SpanQueue

    package init(sampler: Sampler, queue: SpanQueue) {
        (self.sampler, self.queue) = (sampler, queue)
    }

    /// Begins the trace of a request; nil if it is not traced.
    ///
    /// - Parameters:
    ///   - parent: what the request says of its trace.
    ///   - start: when it was received, CLOCK_MONOTONIC in nanoseconds.
    ///   - epoch: what is added to that clock for nanoseconds since 1970.
    package func begin(_ parent: TraceContext?, at start: UInt64, epoch: UInt64) -> Trace? {
        let id = parent?.trace ?? Self.newTrace()
        guard sampler.samples(id, parent) else { return nil }
        return Trace(
            id: id, root: Self.newSpan(), parent: parent?.span, start: start, epoch: epoch, queue: queue)
    }

    private static func newTrace() -> UInt128 { .random(in: 1 ... .max) }

    static func newSpan() -> UInt64 { .random(in: 1 ... .max) }
}
