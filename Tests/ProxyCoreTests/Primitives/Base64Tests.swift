// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Primitives

@Suite("Base64 (RFC 4648)")
struct Base64Tests {
    @Test("For URLs it decodes its own output, and agrees with another implementation", arguments: 0..<20)
    func roundTrip(length: Int) {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 250) }

        #expect(Base64.decodeURL(Base64.encodeURL(bytes).utf8) == bytes)
        let text = String(repeating: "?>~", count: length)
        #expect(Base64.encodeURL(text.utf8) == Base64Text.url(text))
    }

    @Test(
        "In URLs it refuses padding, other alphabets, single characters, remaining bits and white space",
        arguments: ["QQ==", "Q", "Q/", "Q+", "QR", "QUJ", "Q Q", "QUJDR", "QUJD\n"])
    func refused(text: String) {
        #expect(Base64.decodeURL(text.utf8) == nil)
    }

    @Test("It decodes any pieces, in both alphabets, with or without padding")
    func pieces() throws {
        let bytes = (0..<256).map { UInt8($0) }
        let text = Base64.encode(bytes)

        for size in [1, 2, 3, 5, 7, 400] {
            #expect(Self.decode(text, in: size) == bytes)
            #expect(Self.decode(text.replacing("+", with: "-").replacing("/", with: "_"), in: size) == bytes)
        }
        #expect(Self.decode(text.replacing("=", with: ""), in: 11) == bytes)
        #expect(Self.decode("aG\r\nVs bG8=\n", in: 2) == Array("hello".utf8))
        #expect(
            ["", "f", "fo", "foo"].map { Base64.encode(Array($0.utf8)) } == ["", "Zg==", "Zm8=", "Zm9v"])
        for bad in ["a", "a===", "aGVsbG8=x", "aGVs*G8=", "aGVsbG8==", "=aaa"] {
            #expect(Self.decode(bad, in: 3) == nil, "\(bad)")
            #expect(Base64.decode(bad.utf8) == nil, "\(bad)")
        }
    }

    private static func decode(_ text: String, in size: Int) -> [UInt8]? {
        let bytes = Array(text.utf8)
        var decoder = Base64()
        var decoded: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let piece = Array(bytes[start..<min(start + size, bytes.count)])
            guard let some = piece.withUnsafeBytes({ decoder.decode($0) }) else { return nil }
            decoded += some
        }
        guard let rest = decoder.finish() else { return nil }
        return decoded + rest
    }
}
