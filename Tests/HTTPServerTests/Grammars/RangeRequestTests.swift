// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("Range requests (RFC 9110 §14)")
struct RangeRequestTests {
    private func selection(_ value: String, of length: Int64 = 1_000) -> RangeRequest.Selection? {
        Array(value.utf8).withUnsafeBytes { RangeRequest($0) }?.selection(of: length)
    }

    @Test(
        "A single range is cut to the representation (RFC 9110 §14.1.2)",
        arguments: [
            ("bytes=0-499", 0..<500), ("bytes=500-999", 500..<1_000), ("bytes=0-0", 0..<1),
            ("bytes=999-999", 999..<1_000),
            ("bytes=900-1000", 900..<1_000), ("bytes=0-99999999999999999999999", 0..<1_000),
            ("bytes=000-0001", 0..<2), ("BYTES=1-2", 1..<3), ("bytes= 1-2 ", 1..<3), ("bytes=,1-2,", 1..<3),
        ] as [(String, Range<Int64>)])
    func single(value: String, part: Range<Int64>) {
        #expect(selection(value) == .part(part))
    }

    @Test("An open range extends to the end (RFC 9110 §14.1.2)")
    func open() {
        #expect(selection("bytes=0-") == .part(0..<1_000))
        #expect(selection("bytes=999-") == .part(999..<1_000))
    }

    @Test("A suffix is the last bytes, or all of them (RFC 9110 §14.1.2)")
    func suffix() {
        #expect(selection("bytes=-1") == .part(999..<1_000))
        #expect(selection("bytes=-1000") == .part(0..<1_000))
        #expect(selection("bytes=-5000") == .part(0..<1_000))
        #expect(selection("bytes=-99999999999999999999999") == .part(0..<1_000))
    }

    @Test("Several ranges keep their order; those that can't be satisfied are omitted (RFC 9110 §14.2)")
    func several() {
        #expect(selection("bytes=500-599,0-99") == .parts([500..<600, 0..<100]))
        #expect(selection("bytes=0-0 , ,\t-1") == .parts([0..<1, 999..<1_000]))
        #expect(selection("bytes=0-1,2000-2001") == .part(0..<2))
        #expect(selection("bytes=0-10,5-15") == .parts([0..<11, 5..<16]))
    }

    @Test("Only ranges beyond the end, or an empty suffix, are 416 (RFC 9110 §15.5.17)")
    func unsatisfiable() {
        for value in [
            "bytes=1000-", "bytes=1000-2000", "bytes=-0", "bytes=5000-,-0", "bytes=99999999999999999999-",
        ] {
            #expect(selection(value) == .unsatisfiable)
        }
        #expect(selection("bytes=0-", of: 0) == .unsatisfiable)
        #expect(selection("bytes=0-0", of: 0) == .unsatisfiable)
    }

    @Test("A suffix of an empty representation is all of it (RFC 9110 §14.1.2)")
    func emptyRepresentation() {
        #expect(selection("bytes=-5", of: 0) == .whole)
    }

    @Test(
        "Malformed ranges, invalid ones and other units are ignored (RFC 9110 §14.2)",
        arguments: [
            "", "bytes", "bytes=", "bytes=,", "bytes=-", "bytes=a-b", "bytes=1", "bytes=5-4", "bytes=1-2-3",
            "bytes 1-2",
            "bytes=0-1,x", "bytes=0-1,5-4", "items=0-1", "bytes=+1-2", "bytes=1--2", "bytes=0x1-2",
            "bytes=1 - 2",
            "bytes =1-2", "=0-1", "bytes=--1", "bytes=1-2;3-4", "bytes=\u{661}-2", "xbytes=0-1",
        ])
    func malformed(value: String) {
        #expect(selection(value) == nil)
    }

    @Test("Too many ranges are ignored altogether (RFC 9110 §17.15)")
    func tooMany() {
        let most = Array(repeating: "0-", count: RangeRequest.maxRanges).joined(separator: ",")

        #expect(selection("bytes=\(most)") != nil)
        #expect(selection("bytes=\(most),0-") == nil)
    }

    @Test("Range counts only for GET, and on one line (RFC 9110 §14.2)")
    func requests() {
        let lines = "Range: bytes=0-1\r\n"

        #expect(RangeRequest(HeadReading(head(lines)).request)?.ranges == [.closed(first: 0, last: 1)])
        #expect(RangeRequest(HeadReading(head()).request) == nil)
        #expect(RangeRequest(HeadReading(head(lines + lines)).request) == nil)
        for method in ["HEAD", "POST", "DELETE"] {
            #expect(RangeRequest(HeadReading(head(lines, method: method)).request) == nil)
        }
    }

    @Test("Content-Range gives the part and the whole (RFC 9110 §14.4)")
    func contentRange() {
        #expect(FieldValue.contentRange(0..<100, of: 1_234) == FieldValue("bytes 0-99/1234"))
        #expect(FieldValue.contentRange(unsatisfiedOf: 1_234) == FieldValue("bytes */1234"))
    }
}
