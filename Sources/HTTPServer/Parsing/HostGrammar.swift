// SPDX-License-Identifier: Apache-2.0

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

    /// An IPv6 address: eight groups of up to four hexadecimal digits, `::` once for a run of zeros, IPv4 at
    /// the end.
    ///
    /// `IPvFuture` is refused.
    private static func isAddress(_ octets: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var groups = 0
        var hasRun = false
        var index = range.lowerBound
        while index < range.upperBound {
            if octets[index] == UInt8(ascii: ":") {
                guard index + 1 < range.upperBound, octets[index + 1] == UInt8(ascii: ":"), !hasRun else {
                    return false
                }
                hasRun = true
                index += 2
                continue
            }
            if isIPv4(octets, index..<range.upperBound) {
                groups += 2
                index = range.upperBound
                break
            }
            let start = index
            while index < range.upperBound, Octet.hexDigit(octets[index]) != nil { index += 1 }
            guard (1...4).contains(index - start) else { return false }
            groups += 1
            guard index < range.upperBound else { break }
            guard octets[index] == UInt8(ascii: ":"), index + 1 < range.upperBound else { return false }
            // A single colon separates groups; the first of two is left for the run.
            if octets[index + 1] != UInt8(ascii: ":") { index += 1 }
        }
        return hasRun ? groups < 8 : groups == 8
    }

    /// Four decimal numbers up to 255, without leading zeros, separated by dots.
    private static func isIPv4(_ octets: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var (numbers, digits, value) = (0, 0, 0)
        for index in range {
            if octets[index] == UInt8(ascii: ".") {
                guard digits > 0 else { return false }
                (numbers, digits, value) = (numbers + 1, 0, 0)
                continue
            }
            guard let digit = Octet.digit(octets[index]), digits == 0 || value > 0 else { return false }
            value = value * 10 + digit
            digits += 1
            guard value <= 255 else { return false }
        }
        return numbers == 3 && digits > 0
    }
}
