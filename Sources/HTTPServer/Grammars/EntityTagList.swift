// SPDX-License-Identifier: Apache-2.0

import Glibc

/// `"*" / #entity-tag`, the grammar of `If-Match` and `If-None-Match` (RFC 9110 §13.1.1, §13.1.2).
enum EntityTagList {
    /// How two tags are compared (RFC 9110 §8.8.3.2).
    enum Comparison {
        case strong, weak
    }

    /// Hot path: whether the field's lines contain the tag of the present representation, or `*`.
    ///
    /// Nil without such a line. Without a tag only `*` matches; malformed lines match nothing.
    static func matches(
        _ request: HTTPRequest, _ field: KnownField, _ tag: EntityTag?, by comparison: Comparison
    ) -> Bool? {
        guard request.has(known: field) else { return nil }
        var matches = false
        let octets = request.head.storage.span
        for value in request.lines where value.known == field {
            if line(octets.extracting(value.value), names: tag, by: comparison) { matches = true }
        }
        return matches
    }

    /// Whether one line contains the tag.
    static func line(_ octets: Span<UInt8>, names tag: EntityTag?, by comparison: Comparison) -> Bool {
        if octets.count == 1, octets[0] == UInt8(ascii: "*") { return true }
        if let tag, isOnly(octets, tag) { return comparison == .weak || !tag.isWeak }
        var matches = false
        var position = 0
        while let start = nextMember(octets, from: position) {
            guard let (opaque, end) = EntityTag.read(octets, from: start) else { return false }
            let isWeak = octets[start] == UInt8(ascii: "W")
            if let tag, comparison == .weak || !isWeak && !tag.isWeak, isEqual(octets, opaque, tag.opaque) {
                matches = true
            }
            guard let behind = separatorEnd(octets, from: end) else { return false }
            position = behind
        }
        return matches
    }

    /// Whether the line is this tag alone, written as strong: what nearly every client sends.
    private static func isOnly(_ octets: Span<UInt8>, _ tag: EntityTag) -> Bool {
        let quote = UInt8(ascii: "\"")
        let last = tag.opaque.count + 1
        guard octets.count == last + 1, octets[0] == quote, octets[last] == quote else { return false }
        return isEqual(octets, 1..<last, tag.opaque)
    }

    /// Where the next member begins, after commas and white space.
    private static func nextMember(_ octets: Span<UInt8>, from start: Int) -> Int? {
        var index = start
        while index < octets.count, Octet.isSpace(octets[index]) || octets[index] == UInt8(ascii: ",") {
            index += 1
        }
        return index < octets.count ? index : nil
    }

    /// Where the comma after a member, or the line, ends; nil if something else follows.
    private static func separatorEnd(_ octets: Span<UInt8>, from start: Int) -> Int? {
        var index = start
        while index < octets.count, Octet.isSpace(octets[index]) { index += 1 }
        guard index < octets.count else { return index }
        return octets[index] == UInt8(ascii: ",") ? index + 1 : nil
    }

    private static func isEqual(_ octets: Span<UInt8>, _ range: Range<Int>, _ bytes: [UInt8]) -> Bool {
        guard range.count == bytes.count, range.upperBound <= octets.count else { return false }
        // Safe because both have `bytes.count` octets from where they begin.
        return unsafe octets.withUnsafeBytes { octets in
            unsafe bytes.withUnsafeBytes { bytes in
                guard let left = octets.baseAddress, let right = bytes.baseAddress else { return true }
                return unsafe memcmp(left + range.lowerBound, right, bytes.count) == 0
            }
        }
    }
}
