// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("Request ids")
struct RequestIDTests {
    private func text(_ id: RequestID?) -> String? {
        id.map { id in id.withBytes { String(decoding: $0, as: UTF8.self) } }
    }

    @Test(
        "A generated id is sixteen hexadecimal digits",
        arguments: [
            (0, "0000000000000000"), (0x0123_4567_89AB_CDEF, "0123456789abcdef"),
            (0xFEDC_BA98_7654_3210, "fedcba9876543210"), (.max, "ffffffffffffffff"),
            (0x9A, "000000000000009a"),
        ] as [(UInt64, String)])
    func digits(number: UInt64, digits: String) {
        #expect(text(RequestID(number)) == digits)
    }

    @Test("A client's own id is used if it is harmless")
    func clients() {
        for (given, taken) in [("a-B_9:+/=@.", true), (String(repeating: "x", count: 64), true), ("", false)]
        {
            #expect((text(Array(given.utf8).withUnsafeBytes { RequestID($0) }) == given) == taken)
        }
        for given in ["a b", "a\r", "ü", "\"", String(repeating: "x", count: 65)] {
            #expect(Array(given.utf8).withUnsafeBytes { RequestID($0) } == nil)
        }
    }
}
