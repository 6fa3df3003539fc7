// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("The bounds of a head")
struct HeadLimitTests {
    @Test("A target of the maximum length is accepted, one octet more is 414 (RFC 9112 §3)")
    func target() {
        for method in ["GET", "OPTIONS"] {
            let longest = "/" + String(repeating: "a", count: 255)

            #expect(HeadReading(head(method: method, target: longest)).request.target == longest)
            #expect(HeadReading(head(method: method, target: longest + "a")).error == .targetTooLong)
        }
    }

    @Test("An absolute-form counts whole against the bound of targets (RFC 9112 §3)")
    func absoluteTarget() {
        let longest = "http://b/" + String(repeating: "a", count: 247)

        #expect(HeadReading(head(target: longest)).framing != nil)
        #expect(HeadReading(head(target: longest + "a")).error == .targetTooLong)
    }

    @Test("An endless target is 414 before its end (RFC 9112 §3)")
    func endlessTarget() {
        #expect(HeadReading("GET /" + String(repeating: "a", count: 500)).error == .targetTooLong)
    }

    @Test("A head of the maximum length is accepted, one octet more is 431 (RFC 6585 §5)")
    func headLength() {
        let short = head("X: \r\n")
        let filler = String(repeating: "a", count: 1_024 - short.utf8.count)

        #expect(HeadReading(head("X: \(filler)\r\n")).outcome == .head(length: 1_024, RequestFraming()))
        #expect(HeadReading(head("X: \(filler)a\r\n")).error == .headTooLarge)
    }

    @Test("An endless field line or name, and endless lines, are 431 before their end (RFC 6585 §5)")
    func endlessLines() {
        let start = "GET / HTTP/1.1\r\nHost: a\r\n"
        let limits = RequestLimits(headBytes: 512, targetBytes: 64, fieldLines: 1_000)

        #expect(
            HeadReading(start + "X: " + String(repeating: "a", count: 600), limits: limits).error
                == .headTooLarge)
        #expect(
            HeadReading(start + String(repeating: "a", count: 600), limits: limits).error == .headTooLarge)
        #expect(
            HeadReading(start + String(repeating: "a:\r\n", count: 200), limits: limits).error
                == .headTooLarge)
    }

    @Test("The maximum number of field lines is accepted, one more is 431 (RFC 6585 §5)")
    func lineCount() {
        let lines = String(repeating: "X: a\r\n", count: 15)

        #expect(HeadReading(head(lines)).framing != nil)
        #expect(HeadReading(head(lines + "X: a\r\n")).error == .headTooLarge)
    }

    @Test("The first error in a head decides, however the bytes are split")
    func precedence() {
        let long = String(repeating: "a", count: 2_000)

        #expect(HeadReading(head("X : a\r\nY: \(long)\r\n")).error == .malformed)
        #expect(HeadReading(head("Y: \(long)\r\nX : a\r\n")).error == .headTooLarge)
        #expect(HeadReading("BREW / HTTP/1.1\r\nX : a\r\n\r\n").error == .notImplemented)
    }

    @Test("Bounds too small for any request refuse all of them")
    func tinyBounds() {
        for bound in 0...8 {
            let limits = RequestLimits(headBytes: bound, targetBytes: 0, fieldLines: 0, emptyLines: bound)
            #expect(HeadReading(head(), limits: limits).error != nil)
            #expect(HeadReading("\r\n\r\n\r\n" + head(), limits: limits).error != nil)
        }
    }
}
