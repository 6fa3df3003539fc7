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

    /// Hot path: reads a method's name; nil for one that is not known.
    init?(_ octets: Span<UInt8>, _ range: Range<Int>) {
        switch range.count {
        case 3: self.init(octets, range, [.get, .put])
        case 4: self.init(octets, range, [.head, .post])
        case 5: self.init(octets, range, [.patch, .trace, .purge])
        case 6: self.init(octets, range, [.delete])
        case 7: self.init(octets, range, [.options, .connect])
        default: return nil
        }
    }

    private init?<let count: Int>(
        _ octets: Span<UInt8>, _ range: Range<Int>, _ candidates: InlineArray<count, HTTPMethod>
    ) {
        for index in candidates.indices where Self.spells(candidates[index].name, octets, range) {
            self = candidates[index]
            return
        }
        return nil
    }

    private static func spells(_ name: StaticString, _ octets: Span<UInt8>, _ range: Range<Int>) -> Bool {
        for offset in 0..<range.count
        where unsafe octets[range.lowerBound + offset] != name.utf8Start[offset] {
            return false
        }
        return true
    }
}
