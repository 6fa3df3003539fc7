// SPDX-License-Identifier: Apache-2.0

import Observability

/// The text of `/metrics`, made once for all requests that wait for it, and for no more than a fifth of the time: it takes
/// milliseconds on a thread that images need, too. Each request gets figures from after it came.
actor MetricsText {
    private let metrics: Metrics
    /// Those that have not begun to read the figures.
    private var waiting: [PrometheusText.Format: Task<[UInt8], Never>] = [:]
    private var nextStart = ContinuousClock.now

    init(_ metrics: Metrics) { self.metrics = metrics }

    /// The text as bytes of UTF-8.
    func bytes(as format: PrometheusText.Format) async -> [UInt8] {
        if let task = waiting[format] { return await task.value }
        let task = Task {
            while nextStart > .now {
                // Ignored: nothing; this task is never cancelled.
                try? await Task.sleep(until: nextStart)
            }
            return make(format)
        }
        waiting[format] = task
        return await task.value
    }

    private func make(_ format: PrometheusText.Format) -> [UInt8] {
        waiting[format] = nil
        let start = ContinuousClock.now
        let text = PrometheusText.text(of: metrics.families + ProcessMetrics.families(), as: format)
        let end = ContinuousClock.now
        nextStart = end.advanced(by: start.duration(to: end) * 4)
        return Array(text.utf8)
    }
}
