// SPDX-License-Identifier: Apache-2.0

import Glibc

/// `uri-host [ ":" port ]` (RFC 9110 §7.2, RFC 3986 §3.2.2), never empty: an http URI has a host (RFC 9110 §4.2.1).
enum HostGrammar {
    private static var highestPort: Int { 65_535 }

    /// Hot path: whether a range is the value of a `Host` field, or an authority without user information.
    static func isHost(_ octets: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard let first = range.first else { return false }
        var end = first
        if octets[first] == UInt8(ascii: "[") {
            while end < range.upperBound, octets[end] != UInt8(ascii: "]") { end += 1 }
            guard end < range.upperBound, isAddress(octets, (first + 1)..<end) else { return false }
            end += 1
        } else {
            guard let nameEnd = registeredNameEnd(octets, range), nameEnd > first else { return false }
            end = nameEnd
        }
        return isPort(octets, end..<range.upperBound)
    }

    /// Where the name ends: at a colon or with the range; nil if an octet is not allowed in a name.
    private static func registeredNameEnd(_ octets: Span<UInt8>, _ range: Range<Int>) -> Int? {
        var index = range.lowerBound
        while index < range.upperBound {
            let octet = octets[index]
            if OctetSet.registeredName.contains(octet) {
                index += 1
            } else if octet == UInt8(ascii: "%") {
                guard index + 2 < range.upperBound, Octet.hexDigit(octets[index + 1]) != nil,
                    Octet.hexDigit(octets[index + 2]) != nil
                else { return nil }
                index += 3
            } else {
                return octet == UInt8(ascii: ":") ? index : nil
            }
        }
        return index
    }

    /// Nothing, or a colon and digits, which may be missing.
    private static func isPort(_ octets: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard let colon = range.first else { return true }
        guard octets[colon] == UInt8(ascii: ":") else { return false }
        var port = 0
        for index in (colon + 1)..<range.upperBound {
            guard let digit = Octet.digit(octets[index]) else { return false }
            port = port * 10 + digit
            guard port <= highestPort else { return false }
        }
        return true
    }

    /// An IPv6 address; `IPvFuture` is refused.
    private static func isAddress(_ octets: Span<UInt8>, _ range: Range<Int>) -> Bool {
        // Nothing behind a NUL would be read.
        guard range.count < INET6_ADDRSTRLEN, range.allSatisfy({ octets[$0] != 0 }) else { return false }
        var address = in6_addr()
        let text = String(decoding: range.map { octets[$0] }, as: UTF8.self)
        return unsafe inet_pton(AF_INET6, text, &address) == 1
    }
}
