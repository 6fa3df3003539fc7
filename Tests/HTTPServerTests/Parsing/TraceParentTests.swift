// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("The trace of a request")
struct TraceParentTests {
    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    private func traceID(_ lines: String) -> UInt128? {
        HeadReading("GET / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n").request.traceID
    }

    @Test("The trace comes from traceparent, whatever the case of the field's name (W3C Trace Context §3.2)")
    func wellFormed() {
        let id = UInt128("4bf92f3577b34da6a3ce929d0e0e4736", radix: 16)
        #expect(traceID("traceparent: \(Self.parent)\r\n") == id)
        #expect(traceID("TraceParent:\(Self.parent)\r\n") == id)
        #expect(traceID("") == nil)
    }

    @Test("A traceparent of a later version is read like one of this version (W3C Trace Context §4.3)")
    func laterVersions() {
        let rest = Self.parent.dropFirst(2)
        #expect(traceID("traceparent: cc\(rest)\r\n") != nil)
        #expect(traceID("traceparent: cc\(rest)-what-there-will-be\r\n") != nil)
        #expect(traceID("traceparent: cc\(rest).x\r\n") == nil)
        #expect(traceID("traceparent: ff\(rest)-x\r\n") == nil)
    }

    @Test("A malformed traceparent, or two of them, give no trace (W3C Trace Context §4.3)")
    func malformed() {
        let others = [
            "", "00", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
        ]
        for other in others { #expect(traceID("traceparent: \(other)\r\n") == nil, "\(other)") }
        #expect(traceID("traceparent: \(Self.parent)\r\ntraceparent: \(Self.parent)\r\n") == nil)
    }
}
