// SPDX-License-Identifier: Apache-2.0

/// The id of a request in answers and logs: the client's own, or a generated one. Stored inline.
public struct RequestID: Sendable {
    /// The maximum length of an id, in bytes.
    public static let capacity = 64

    private var bytes = InlineArray<64, UInt8>(repeating: 0)
    private var count: UInt8 = 0

    /// Sixteen hexadecimal digits.
    init(_ number: UInt64) {
        count = 16
        var span = bytes.mutableSpan
        unsafe span.withUnsafeMutableBytes { memory in
            unsafe memory.storeBytes(of: Self.digits(number >> 32).bigEndian, as: UInt64.self)
            unsafe memory.storeBytes(
                of: Self.digits(number & 0xFFFF_FFFF).bigEndian, toByteOffset: 8, as: UInt64.self)
        }
    }

    /// The eight digits of a number below 2³², the first one in the highest octet; all at once.
    private static func digits(_ number: UInt64) -> UInt64 {
        // Each half moves to its place, then each half of those: a digit an octet.
        var nibbles = (number | number << 16) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles | nibbles << 4) & 0x0F0F_0F0F_0F0F_0F0F
        // With 6 added, digits of 10 and more set the next bit; letters begin 0x27 after the character that
        // would follow 9.
        let letters = ((nibbles &+ 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101
        return nibbles &+ 0x3030_3030_3030_3030 &+ letters &* 0x27
    }

    /// Copies a client's id: 1 to 64 letters, digits and `-._:+/=@`; nil for anything else.
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

/// Generates ids that are unique in this process, and whose order can't be guessed.
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
