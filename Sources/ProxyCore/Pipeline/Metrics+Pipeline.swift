// SPDX-License-Identifier: Apache-2.0

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

    /// Counts a fetch that failed.
    func count(_ error: LoadError, took microseconds: Int) {
        fetches.increment(Metric.Fetch(error))
        fetchDuration.observe(nanoseconds: UInt64(microseconds) * 1_000, Metric.Fetch(error))
    }

    /// Counts a rendering that came to its end.
    func count(_ rendition: Rendition) {
        let format = Metric.Format(named: rendition.format.rawValue)
        transforms.increment(format, .ok)
        if rendition.isCheapest { transformCheapest.increment() }
        let timings = rendition.timings
        let work = timings.decode + timings.transform + timings.encode
        transformDuration.observe(nanoseconds: UInt64(max(0, work)) * 1_000, format)
        transformQueueDuration.observe(nanoseconds: UInt64(max(0, timings.queue)) * 1_000)
    }

    /// Counts a rendering that failed.
    func count(_ error: RenderError) {
        transforms.increment(.none, Metric.Transform(error))
    }
}

extension Metric.Fetch {
    init(_ error: LoadError) {
        self =
            switch error {
            case .addressForbidden, .nameForbidden, .redirectForbidden: .forbidden
            case .unreachable, .disconnected: .unreachable
            case .tlsFailed: .tls
            case .tooManyRedirects: .redirects
            case .timedOut: .timeout
            case .tooLarge: .tooLarge
            case .incomplete: .incomplete
            case .status(404, _), .status(410, _): .notFound
            case .status: .status
            case .notAnImage, .unsupportedFormat, .unusable: .notAnImage
            case .queueFull, .queueTimedOut: .queue
            case .storage: .storage
            case .cancelled: .cancelled
            }
    }
}

extension Metric.Transform {
    init(_ error: RenderError) {
        self =
            switch error {
            case .notAnImage: .notAnImage
            case .unsupportedFormat: .unsupported
            case .tooManyPixels, .resultTooLarge, .tooManyFrames, .outOfMemory, .tooMuchWork: .limit
            case .badImageData: .badImage
            case .decoderCrashed, .workerKilled: .crashed
            case .timedOut: .timeout
            case .frameOutOfRange, .emptyResult, .tooManyBytes: .empty
            case .queueFull, .queueTimedOut: .queue
            case .notWritten, .unavailable, .watermarkUnreadable: .unavailable
            case .cancelled: .cancelled
            }
    }
}
