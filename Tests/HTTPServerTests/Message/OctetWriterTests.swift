// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("Writing the octets of a head")
struct OctetWriterTests {
    private func written(_ write: (inout OctetWriter) -> Void) -> String {
        var octets = ReusedArray<UInt8>()
        octets.append(upTo: 64, write)
        return String(decoding: Array(octets), as: UTF8.self)
    }

    @Test(
        "A number is written in decimal digits",
        arguments: [
            0, 1, 9, 10, 11, 99, 100, 20_480, 999_999_999, 1_000_000_000, .max, -1, -10, .min,
        ] as [Int64])
    func number(_ number: Int64) {
        #expect(written { $0.put(number) } == "\(number)")
    }

    @Test("Texts, arrays and numbers are written one after the other")
    func order() {
        let text = written { writer in
            writer.put("Age: ")
            writer.put(42)
            writer.put(Array("\r\n".utf8))
        }
        #expect(text == "Age: 42\r\n")
    }

    @Test("Clearing the writer removes what was there, even if that was longer")
    func reuse() {
        var octets = ReusedArray<UInt8>()
        octets.append(upTo: 32) { $0.put("a long text of before") }
        octets.removeAll()
        #expect(octets.isEmpty)
        octets.append(UInt8(ascii: "b"))
        octets.append(upTo: 32) { $0.put("cd") }
        #expect(Array(octets) == Array("bcd".utf8))
        #expect(octets.withUnsafeBytes { $0.count } == 3)
    }

    @Test("A line that does not fit is omitted whole")
    func fullScratch() {
        var scratch = FieldScratch()
        for number in 0..<40 { scratch.append(.age, integer: Int64(number)) }
        let lines = unsafe scratch.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
        #expect(lines.hasSuffix("\r\n"))
        #expect(lines.split(separator: "\r\n").allSatisfy { $0.wholeMatch(of: /Age: \d+/) != nil })
        #expect(lines.utf8.count > 200)
    }
}
