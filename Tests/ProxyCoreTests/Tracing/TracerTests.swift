// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import Tracing

@Suite("Traces")
struct TracerTests {
    private static let parent = TraceContext(
        traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")

    @Test(
        "A traceparent that is none makes no trace part of another",
        arguments: [
            "", "00", "00-0-0-00", "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
        ])
    func malformed(text: String) {
        #expect(TraceContext(traceparent: text) == nil)
    }

    @Test("The caller decides where the sampler follows it; else the share of traces is the sampler's")
    func sampling() {
        let queue = SpanQueue(maxSpans: 1, batch: 1)
        func traced(_ sampler: Tracer.Sampler, _ parent: TraceContext?) -> Int {
            (0..<4_000).count { _ in
                Tracer(sampler: sampler, queue: queue).begin(parent, at: 1, epoch: 1) != nil
            }
        }
        #expect(traced(.init(followsParent: true, ratio: 0), Self.parent) == 4_000)
        #expect(traced(.init(followsParent: false, ratio: 0), Self.parent) == 0)
        #expect(traced(.init(followsParent: true, ratio: 1), nil) == 4_000)
        // Six standard deviations of 4,000 throws of a quarter.
        #expect(abs(traced(.init(followsParent: true, ratio: 0.25), nil) - 1_000) < 165)
    }

    @Test("Beyond its bounds in number or bytes the queue drops what is new, and counts it")
    func bounds() throws {
        let few = SpanQueue(maxSpans: 3, batch: 2)
        let small = SpanQueue(maxSpans: 1_000, maxBytes: 2_000, batch: 1_000)
        for queue in [few, small] {
            let trace = try #require(Tracer(sampler: .init(), queue: queue).begin(nil, at: 5, epoch: 100))
            for number in 0..<50 { trace.begin("part \(number)", at: 7).end(at: 9) }
        }
        #expect(few.counts == SpanQueue.Counts(exported: 0, dropped: 47, failed: 0))
        #expect(
            few.take().map(\.name) == ["part 0", "part 1"] && few.take().count == 1 && few.take().isEmpty)
        #expect(small.counts.dropped > 40 && small.counts.dropped < 50)
    }

    @Test("A span has its trace, its parent and wall-clock times, and ends no earlier than it begins")
    func spans() throws {
        let queue = SpanQueue(maxSpans: 10, batch: 10)
        let trace = try #require(Tracer(sampler: .init(), queue: queue).begin(Self.parent, at: 5, epoch: 100))
        let part = trace.begin("fetch", .client, at: 7)
        part.add("body", 8..<9)
        part.end(at: 6)
        trace.end("GET /img", [], error: "x", at: 12)
        let spans = queue.take()

        #expect(spans.map(\.name) == ["body", "fetch", "GET /img"])
        #expect(Set(spans.map(\.trace)) == [Self.parent?.trace])
        #expect(spans[0].parent == spans[1].id && spans[1].parent == spans[2].id)
        #expect(spans[2].parent == Self.parent?.span)
        #expect(spans.map(\.start) == [108, 107, 105] && spans.map(\.end) == [109, 107, 112])
        #expect(part.traceparent.hasPrefix("00-4bf92f3577b34da6a3ce929d0e0e4736-"))
    }
}
