// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ProxyCore

@Suite("Base64 for URLs (RFC 4648 §5)")
struct Base64URLTests {
    @Test("decodes its own output, and agrees with another implementation", arguments: 0..<20)
    func roundTrip(length: Int) {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 250) }

        #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
        let text = String(repeating: "?>~", count: length)
        #expect(Base64URL.encode(text.utf8) == Base64Text.url(text))
    }

    @Test(
        "refuses padding, other alphabets, single characters and remaining bits",
        arguments: ["QQ==", "Q", "Q/", "Q+", "QR", "QUJ", "Q Q", "QUJDR"])
    func refused(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }
}
