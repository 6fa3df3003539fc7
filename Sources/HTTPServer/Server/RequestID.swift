// SPDX-License-Identifier: Apache-2.0

/// What a request is called in answers and logs: the client's own word for it, or one of ours. Kept in place.
public struct RequestID: Sendable {
    /// Most bytes of an id.
    public static let capacity = 64

    private var bytes = InlineArray<64, UInt8>(repeating: 0)
    private var count: UInt8 = 0

    /// Sixteen hexadecimal digits.
    init(_ number: UInt64) {
        count = 16
        for index in 0..<16 {
            let digit = UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * index)) & 15
            bytes[index] = digit < 10 ? 0x30 + digit : 0x57 + digit
        }
    }

    /// Takes over a client's id: 1 to 64 letters, digits and `-._:+/=@`; nil when it is anything else.
    init?(_ text: UnsafeRawBufferPointer) {
        guard (1...Self.capacity).contains(text.count) else { return nil }
        count = UInt8(text.count)
        for index in 0..<text.count {
            let byte = unsafe text[index]
            guard Self.isAllowed(byte) else { return nil }
            bytes[index] = byte
        }
    }

    /// Hot path: lends the bytes.
    public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe bytes.span.withUnsafeBytes { unsafe body(UnsafeRawBufferPointer(rebasing: $0[..<Int(count)])) }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "+"),
            UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "@"):
            true
        default: false
        }
    }
}

/// Makes ids that no other request of this process has, and that nobody can guess the order of.
struct RequestIDSource {
    private var state = UInt64.random(in: .min ... .max)

    /// The next id's number: a counter behind a bijection (SplitMix64's).
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
