// SPDX-License-Identifier: Apache-2.0

/// A request method (RFC 9110 §9). Names are case-sensitive.
public enum HTTPMethod: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
    case options = "OPTIONS"
    case trace = "TRACE"
    case connect = "CONNECT"
    case patch = "PATCH"
    /// Used by caches for invalidation; not in RFC 9110.
    case purge = "PURGE"

    /// Octets of the longest name.
    static var longestName: Int { 7 }

    /// Hot path: parses a method's name, compared as one number; nil for an unknown one.
    init?(_ octets: Span<UInt8>, _ range: Range<Int>) {
        // A zero in front would be invisible in the number.
        guard range.count <= Self.longestName, let first = range.first, octets[first] != 0 else { return nil }
        var word: UInt64 = 0
        for index in range { word = word << 8 | UInt64(octets[index]) }
        switch word {
        case 0x47_45_54: self = .get
        case 0x48_45_41_44: self = .head
        case 0x50_4F_53_54: self = .post
        case 0x50_55_54: self = .put
        case 0x44_45_4C_45_54_45: self = .delete
        case 0x4F_50_54_49_4F_4E_53: self = .options
        case 0x54_52_41_43_45: self = .trace
        case 0x43_4F_4E_4E_45_43_54: self = .connect
        case 0x50_41_54_43_48: self = .patch
        case 0x50_55_52_47_45: self = .purge
        default: return nil
        }
    }
}
