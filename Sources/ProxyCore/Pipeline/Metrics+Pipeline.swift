// SPDX-License-Identifier: Apache-2.0

import Imaging
import Loading
import Observability

extension Metrics {
    /// Counts a fetch that came to its end.
    func count(_ summary: LoadSummary, isNotModified: Bool, took microseconds: Int) {
        let outcome: Metric.Fetch = isNotModified ? .notModified : .ok
        fetches.increment(outcome)
        fetchDuration.observe(nanoseconds: UInt64(microseconds) * 1_000, outcome)
        fetchBytes.add(summary.byteCount)
        let phases: [(Metric.Phase, Int)] = [
            (.dns, summary.dns), (.connect, summary.connect), (.tls, summary.tls), (.ttfb, summary.firstByte),
            (.body, summary.body),
        ]
        for (phase, microseconds) in phases where microseconds > 0 {
            fetchPhase.observe(nanoseconds: UInt64(microseconds) * 1_000, phase)
        }
    }

    func count(failedFetch failure: PipelineError, took microseconds: Int) {
        fetches.increment(failure.row.fetchLabel)
        fetchDuration.observe(nanoseconds: UInt64(microseconds) * 1_000, failure.row.fetchLabel)
    }

    /// Counts a rendering that came to its end.
    func count(_ rendition: Rendition, by plan: RenderPlan) {
        let format = plan.format == .information ? .none : Metric.Format(named: rendition.format.rawValue)
        transforms.increment(format, .ok)
        if rendition.isCheapest { transformCheapest.increment() }
        let timings = rendition.timings
        let work = timings.decode + timings.transform + timings.encode
        transformDuration.observe(nanoseconds: UInt64(max(0, work)) * 1_000, format)
        transformQueueDuration.observe(nanoseconds: UInt64(max(0, timings.queue)) * 1_000)
    }

    /// Counts a rendering that failed.
    func count(failedTransform failure: PipelineError) {
        transforms.increment(.none, failure.row.transformLabel)
    }
}
