// SPDX-License-Identifier: Apache-2.0

import Glibc
import Imaging
import Loading
import Primitives
import Rendering
import Tracing
import URLs

/// What the pipeline reports to a trace.
extension Trace {
    /// CLOCK_MONOTONIC in nanoseconds.
    static var now: UInt64 { UInt64(SystemTime.nanoseconds(of: CLOCK_MONOTONIC)) }

    func begin(_ name: String, _ kind: Span.Kind = .internal) -> Part { begin(name, kind, at: Self.now) }
}

extension FetchContext {
    /// Does work that is a part of the request's trace, if that is traced.
    func traced<Value, Failure: Error>(
        _ name: String, _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let part = trace?.begin(name)
        defer { part?.end() }
        return try await work()
    }
}

extension Trace.Part {
    /// Ends a part about which there is nothing to say.
    func end() { end(at: Trace.now) }

    /// Ends a fetch; the phases of its last hop end with it, and what was before is the wait for a slot, and redirects.
    func end(_ summary: LoadSummary, status: Int?, of url: SourceURL, _ failure: PipelineError? = nil) {
        let now = Trace.now
        let phases = [
            ("dns", summary.dns), ("connect", summary.connect), ("tls", summary.tls),
            ("first byte", summary.firstByte), ("body", summary.body),
        ]
        addPhases(phases, endingAt: now, before: "queue")
        var attributes = [
            Span.Attribute("server.address", .string(url.host)),
            Span.Attribute("server.port", .integer(url.port)),
            Span.Attribute("url.scheme", .string(url.scheme)),
            Span.Attribute("http.request.method", .string("GET")),
            Span.Attribute("http.response.body.size", .integer(summary.byteCount)),
        ]
        if let status { attributes.append(Span.Attribute("http.response.status_code", .integer(status))) }
        if let failure { attributes.append(Span.Attribute("error.type", .string(failure.row.code))) }
        end(attributes, error: failure?.row.title, at: now)
    }

    /// Ends a rendering; its phases follow the wait for a worker.
    func end(_ rendition: Rendition) {
        let now = Trace.now
        let timings = rendition.timings
        let phases = [
            ("decode", timings.decode), ("transform", timings.transform), ("encode", timings.encode),
        ]
        addPhases(phases, endingAt: now, before: "queue")
        let attributes = [
            Span.Attribute("imageproxyd.format", .string(rendition.format.rawValue)),
            Span.Attribute("imageproxyd.width", .integer(rendition.width)),
            Span.Attribute("imageproxyd.height", .integer(rendition.height)),
            Span.Attribute("imageproxyd.bytes", .integer(rendition.byteCount)),
        ]
        end(attributes, at: now)
    }

    /// Ends a rendering that has failed.
    func end(_ failure: PipelineError) {
        end(
            [Span.Attribute("error.type", .string(failure.row.code))], error: failure.row.title, at: Trace.now
        )
    }

    /// Adds phases, in microseconds, that follow one another up to `now`; what was before them is `first`.
    private func addPhases(_ phases: [(name: String, time: Int)], endingAt now: UInt64, before first: String)
    {
        let sum = phases.reduce(0) { $0 + max(0, $1.time) }
        guard sum > 0 else { return }
        var time = max(start, now &- min(now, UInt64(sum) * 1_000))
        if time > start { add(first, start..<time) }
        for phase in phases where phase.time > 0 {
            let end = min(now, time + UInt64(phase.time) * 1_000)
            add(phase.name, time..<end)
            time = end
        }
    }
}
