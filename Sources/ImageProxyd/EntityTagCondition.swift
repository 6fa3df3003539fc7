// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import ProxyCore

/// Whether a request's own copy is still good, so that 304 is the answer (RFC 9110 §13.1, §13.2.2).
enum EntityTagCondition {
    /// Hot path: `If-None-Match` decides alone when present; else `If-Modified-Since` against the origin's date.
    static func isMet(by request: HTTPRequest, entityTag: [UInt8], _ record: SourceRecord) -> Bool {
        let byTag = unsafe request.withFirstValue(of: .ifNoneMatch) { value in
            unsafe value.elementsEqual(entityTag)
        }
        switch byTag {
        case true?: return true
        case false?: return list(request.values(of: .ifNoneMatch), contains: entityTag)
        case nil: return isUnmodified(request, record)
        }
    }

    /// Whether any member of the lists is `*` or weakly equal to `entityTag` (RFC 9110 §8.8.3.2).
    static func list(_ values: [String], contains entityTag: [UInt8]) -> Bool {
        values.contains { value in
            var rest = Array(value.utf8)[...]
            while let member = nextMember(&rest) {
                if member.elementsEqual(entityTag) || member.elementsEqual("*".utf8) { return true }
            }
            return false
        }
    }

    /// Takes the next entity tag, without `W/`, or `*`; nil at the end or where the grammar ends.
    private static func nextMember(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        rest = rest.drop { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let first = rest.first else { return nil }
        if first == UInt8(ascii: "*") {
            defer { rest = [] }
            return rest.prefix(1)
        }
        if rest.starts(with: "W/".utf8) { rest = rest.dropFirst(2) }
        guard rest.first == UInt8(ascii: "\""),
            let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        let member = rest[...end]
        rest = rest[(end + 1)...]
        return member
    }

    private static func isUnmodified(_ request: HTTPRequest, _ record: SourceRecord) -> Bool {
        // The request's own date first: on a plain hit there is none, and nothing is parsed.
        guard
            let since = unsafe request.withFirstValue(
                of: .ifModifiedSince,
                { value in unsafe HTTPDate(String(decoding: value, as: UTF8.self), now: record.responseTime) }
            ) ?? nil,
            let modified = record.lastModified.flatMap({ HTTPDate($0, now: record.responseTime) })
        else { return false }
        return modified <= since
    }
}
