// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A set of ASCII characters, as the grammars of RFC 9110 and RFC 3986 define them. A look-up is one shift
/// and one mask.
struct OctetSet {
    let low: UInt64
    let high: UInt64

    /// Whether the set contains the octet; false beyond ASCII.
    @inline(__always)
    func contains(_ octet: UInt8) -> Bool {
        octet < 0x80 && ((octet < 0x40 ? low : high) >> UInt64(octet & 0x3F)) & 1 == 1
    }

    /// `tchar` (RFC 9110 §5.6.2).
    static var token: OctetSet { OctetSet(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE) }

    /// The octets of a request target: visible ASCII without `"`, `#`, `<` and `>`.
    ///
    /// More than RFC 3986 allows: browsers send `^`, `{`, `|`, `}`, a backquote and a backslash in queries
    /// unencoded.
    static var target: OctetSet { OctetSet(low: 0xAFFF_FFF2_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF) }

    /// `unreserved` and `sub-delims` (RFC 3986 §2.2, §2.3).
    static var registeredName: OctetSet { OctetSet(low: 0x2BFF_7FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE) }
}

/// Octets with a meaning in the grammars.
enum Octet {
    static var tab: UInt8 { 0x09 }
    static var lineFeed: UInt8 { 0x0A }
    static var carriageReturn: UInt8 { 0x0D }
    static var space: UInt8 { 0x20 }

    /// `OWS` and `BWS` (RFC 9110 §5.6.3).
    @inline(__always)
    static func isSpace(_ octet: UInt8) -> Bool { octet == space || octet == tab }

    /// The octets of a field value (RFC 9110 §5.5): no control character except a tab; octets beyond ASCII
    /// are opaque.
    @inline(__always)
    static func isFieldText(_ octet: UInt8) -> Bool { octet >= 0x20 && octet != 0x7F || octet == tab }

    /// The value of a decimal digit.
    @inline(__always)
    static func digit(_ octet: UInt8) -> Int? {
        octet >= 0x30 && octet <= 0x39 ? Int(octet &- 0x30) : nil
    }

    /// The value of a hexadecimal digit of either case.
    @inline(__always)
    static func hexDigit(_ octet: UInt8) -> Int? {
        switch octet {
        case 0x30...0x39: Int(octet &- 0x30)
        case 0x41...0x46: Int(octet &- 0x37)
        case 0x61...0x66: Int(octet &- 0x57)
        default: nil
        }
    }

    /// The letter in lower case; other octets unchanged.
    @inline(__always)
    static func lower(_ octet: UInt8) -> UInt8 { octet >= 0x41 && octet <= 0x5A ? octet | 0x20 : octet }
}

extension Span where Element == UInt8 {
    /// Hot path: the index of the next line feed, from `start`.
    func lineFeed(from start: Int) -> Int? {
        start < count ? first(Octet.lineFeed, in: start..<count) : nil
    }

    /// Hot path: the first index of an octet in a range.
    @inline(__always)
    func first(_ octet: UInt8, in range: Range<Int>) -> Int? {
        unsafe extracting(range).withUnsafeBytes { bytes -> Int? in
            guard let base = bytes.baseAddress else { return nil }
            guard let found = unsafe memchr(base, CInt(octet), bytes.count) else { return nil }
            return unsafe range.lowerBound + base.distance(to: UnsafeRawPointer(found))
        }
    }

    /// Hot path: whether all octets of a range are allowed in a field value; tests eight octets at a time.
    func isFieldText(_ range: Range<Int>) -> Bool {
        unsafe extracting(range).withUnsafeBytes { bytes in
            var position = 0
            while position + 8 <= bytes.count {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                if Self.hasControl(word) {
                    for index in position..<(position + 8) where unsafe !Octet.isFieldText(bytes[index]) {
                        return false
                    }
                }
                position += 8
            }
            if bytes.count >= 8 {
                // The last eight, some of which have been tested.
                let word = unsafe bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
                if !Self.hasControl(word) { return true }
            }
            while position < bytes.count {
                guard unsafe Octet.isFieldText(bytes[position]) else { return false }
                position += 1
            }
            return true
        }
    }

    /// Whether an octet of eight is below 0x20 or 0x7F; the borrow of each subtraction marks it in its
    /// highest bit.
    @inline(__always)
    private static func hasControl(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        let low = (word &- ones &* 0x20) & ~word
        let delete = word ^ (ones &* 0x7F)
        return (low | ((delete &- ones) & ~delete)) & highs != 0
    }

    /// Hot path: the index of the first octet of the range that no target contains; tests sixteen octets at a
    /// time.
    func targetEnd(_ range: Range<Int>) -> Int {
        unsafe extracting(range).withUnsafeBytes { bytes in
            var position = 0
            while position + 16 <= bytes.count {
                let octets = unsafe bytes.loadUnaligned(fromByteOffset: position, as: SIMD16<UInt8>.self)
                if let place = Self.firstEnd(octets) { return range.lowerBound + position + place }
                position += 16
            }
            if bytes.count >= 16 {
                // The last sixteen, some of which have been tested.
                let octets = unsafe bytes.loadUnaligned(
                    fromByteOffset: bytes.count - 16, as: SIMD16<UInt8>.self)
                return range.lowerBound + bytes.count - 16 + (Self.firstEnd(octets) ?? 16)
            }
            while position < bytes.count, unsafe OctetSet.target.contains(bytes[position]) { position += 1 }
            return range.lowerBound + position
        }
    }

    /// The first of sixteen octets that is not in `OctetSet.target`: up to a space, `"`, `#`, `<`, `>`, DEL
    /// or beyond ASCII.
    @inline(__always)
    private static func firstEnd(_ octets: SIMD16<UInt8>) -> Int? {
        // Vectors on both sides: with a single octet the operators are those of any SIMD type, and slow.
        let isEnd =
            (octets .<= all(0x20)) .| (octets .>= all(0x7F)) .| (octets .== all(0x22))
            .| (octets .== all(0x23)) .| (octets .== all(0x3C)) .| (octets .== all(0x3E))
        let halves = unsafe unsafeBitCast(isEnd, to: SIMD2<UInt64>.self)
        guard halves.x | halves.y != 0 else { return nil }
        return halves.x != 0 ? halves.x.trailingZeroBitCount / 8 : 8 + halves.y.trailingZeroBitCount / 8
    }

    @inline(__always)
    private static func all(_ octet: UInt8) -> SIMD16<UInt8> { SIMD16(repeating: octet) }

    /// Hot path: whether a set contains all octets of a range.
    @inline(__always)
    func all(in set: OctetSet, _ range: Range<Int>) -> Bool {
        for index in range where !set.contains(self[index]) { return false }
        return true
    }

    /// Hot path: a range without the white space at its ends.
    @inline(__always)
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, Octet.isSpace(self[start]) { start += 1 }
        while start < end, Octet.isSpace(self[end - 1]) { end -= 1 }
        return start..<end
    }

    /// Hot path: whether a range equals `text`, a word in lower case, without case.
    @inline(__always)
    func spells(_ text: StaticString, _ range: Range<Int>) -> Bool {
        guard range.count == text.utf8CodeUnitCount else { return false }
        for offset in 0..<range.count
        where unsafe Octet.lower(self[range.lowerBound + offset]) != text.utf8Start[offset] {
            return false
        }
        return true
    }
}
