// SPDX-License-Identifier: Apache-2.0

/// The request fields that the server or its handlers read; a head's lines are indexed by them while it is
/// parsed.
enum KnownField: UInt8, Sendable, CaseIterable {
    case accept, acceptEncoding, authorization, cacheControl, cdnLoop, connection, contentLength, contentType,
        cookie
    case expect, forwarded, host, ifMatch, ifModifiedSince, ifNoneMatch, ifRange, ifUnmodifiedSince, origin
    case range, requestID, secCHDPR, traceparent, trailer, transferEncoding, userAgent, via, xForwardedFor
    case xForwardedProto

    /// The name as it is usually written.
    var name: StaticString {
        switch self {
        case .accept: "Accept"
        case .acceptEncoding: "Accept-Encoding"
        case .authorization: "Authorization"
        case .cacheControl: "Cache-Control"
        case .cdnLoop: "CDN-Loop"
        case .connection: "Connection"
        case .contentLength: "Content-Length"
        case .contentType: "Content-Type"
        case .cookie: "Cookie"
        case .expect: "Expect"
        case .forwarded: "Forwarded"
        case .host: "Host"
        case .ifMatch: "If-Match"
        case .ifModifiedSince: "If-Modified-Since"
        case .ifNoneMatch: "If-None-Match"
        case .ifRange: "If-Range"
        case .ifUnmodifiedSince: "If-Unmodified-Since"
        case .origin: "Origin"
        case .range: "Range"
        case .requestID: "X-Request-Id"
        case .secCHDPR: "Sec-CH-DPR"
        case .traceparent: "traceparent"
        case .trailer: "Trailer"
        case .transferEncoding: "Transfer-Encoding"
        case .userAgent: "User-Agent"
        case .via: "Via"
        case .xForwardedFor: "X-Forwarded-For"
        case .xForwardedProto: "X-Forwarded-Proto"
        }
    }

    /// Hot path: recognizes a name in any case; nil for an unknown one.
    init?(_ octets: Span<UInt8>, _ range: Range<Int>) {
        guard let candidate = Self.candidate(octets, range) else { return nil }
        let name = candidate.name
        precondition(name.utf8CodeUnitCount == range.count)
        let isEqual = unsafe octets.extracting(range).withUnsafeBytes { bytes in
            // Safe because both have as many octets, by the line above.
            unsafe bytes.baseAddress.map { unsafe Self.isEqual($0, name.utf8Start, bytes.count) } ?? false
        }
        guard isEqual else { return nil }
        self = candidate
    }

    /// Compares `count` octets except for the bit of the case: eight, four or one at a time, the last ones
    /// twice.
    ///
    /// Known names consist of letters and hyphens: only control characters become one of them by that bit,
    /// and are refused.
    @inline(__always)
    private static func isEqual(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
        if count >= 8 {
            var offset = 0
            while offset + 8 < count {
                guard unsafe isEqual(left + offset, right + offset, as: UInt64.self) else { return false }
                offset += 8
            }
            return unsafe isEqual(left + count - 8, right + count - 8, as: UInt64.self)
        }
        if count >= 4 {
            return unsafe isEqual(left, right, as: UInt32.self)
                && isEqual(left + count - 4, right + count - 4, as: UInt32.self)
        }
        for offset in 0..<count where unsafe !isEqual(left + offset, right + offset, as: UInt8.self) {
            return false
        }
        return true
    }

    @inline(__always)
    private static func isEqual<Word: FixedWidthInteger & BitwiseCopyable>(
        _ left: UnsafeRawPointer, _ right: UnsafeRawPointer, as word: Word.Type
    ) -> Bool {
        let cases = Word(truncatingIfNeeded: 0x2020_2020_2020_2020 as UInt64)
        let (own, other) = unsafe (left.loadUnaligned(as: word), right.loadUnaligned(as: word))
        // Each octet has one of the bits that all control characters lack.
        let printable = (own | own << 1) & (cases << 1) == cases << 1
        return printable && own | cases == other | cases
    }

    /// The only name that it can be, by its length and one letter.
    private static func candidate(_ octets: Span<UInt8>, _ range: Range<Int>) -> KnownField? {
        guard let first = range.first, let last = range.last else { return nil }
        switch range.count {
        case 3: return .via
        case 4: return .host
        case 5: return .range
        case 6:
            switch Octet.lower(octets[first]) {
            case UInt8(ascii: "a"): return .accept
            case UInt8(ascii: "c"): return .cookie
            case UInt8(ascii: "e"): return .expect
            default: return .origin
            }
        case 7: return .trailer
        case 8:
            switch Octet.lower(octets[last]) {
            case UInt8(ascii: "h"): return .ifMatch
            case UInt8(ascii: "p"): return .cdnLoop
            default: return .ifRange
            }
        case 9: return .forwarded
        case 10:
            switch Octet.lower(octets[first]) {
            case UInt8(ascii: "c"): return .connection
            case UInt8(ascii: "s"): return .secCHDPR
            default: return .userAgent
            }
        case 11: return .traceparent
        case 12: return Octet.lower(octets[first]) == UInt8(ascii: "x") ? .requestID : .contentType
        case 13:
            switch Octet.lower(octets[first]) {
            case UInt8(ascii: "a"): return .authorization
            case UInt8(ascii: "c"): return .cacheControl
            default: return .ifNoneMatch
            }
        case 14: return .contentLength
        case 15: return Octet.lower(octets[first]) == UInt8(ascii: "a") ? .acceptEncoding : .xForwardedFor
        case 17:
            switch Octet.lower(octets[first]) {
            case UInt8(ascii: "i"): return .ifModifiedSince
            case UInt8(ascii: "t"): return .transferEncoding
            default: return .xForwardedProto
            }
        case 19: return .ifUnmodifiedSince
        default: return nil
        }
    }
}

/// A set of known fields in one word.
struct KnownFields: Sendable, Equatable {
    private var bits: UInt32 = 0

    /// Whether `field` is in it.
    func contains(_ field: KnownField) -> Bool { bits >> UInt32(field.rawValue) & 1 == 1 }

    /// Inserts `field`; false if it was there already.
    mutating func insert(_ field: KnownField) -> Bool {
        defer { bits |= 1 << UInt32(field.rawValue) }
        return !contains(field)
    }
}
