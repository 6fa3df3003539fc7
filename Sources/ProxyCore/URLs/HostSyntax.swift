// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The syntax of a URL's host, after libcurl has normalized it.
enum HostSyntax {
    /// The maximum lengths of a name and of a label in bytes (RFC 1035 §2.3.4).
    private static let maxName = 253, maxLabel = 63

    /// Whether `host`, in lower case, is a name, an IPv4 address, or an IPv6 address in brackets.
    static func isValid(_ host: String) -> Bool {
        if host.hasPrefix("[") { return isIPv6Literal(host) }
        guard host.utf8.count <= maxName else { return false }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.allSatisfy(isLabel), let last = labels.last else { return false }
        // libcurl has normalized every IPv4 address that it recognizes; another number at the end (256.1.1.1,
        // 1.2.3.4.5) would be resolved as a name, and resolvers interpret it differently.
        return !endsInNumber(last) || IPAddress(host) != nil
    }

    private static func isIPv6Literal(_ host: String) -> Bool {
        guard host.hasSuffix("]"), let address = IPAddress(String(host.dropFirst().dropLast())) else {
            return false
        }
        return !address.isIPv4
    }

    private static func isLabel(_ label: Substring) -> Bool {
        guard !label.isEmpty, label.utf8.count <= maxLabel else { return false }
        return label.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || byte.isASCIIDigit
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
    }

    /// The URL standard's "ends in a number": decimal digits, or `0x` with hexadecimal digits.
    private static func endsInNumber(_ label: Substring) -> Bool {
        if label.utf8.allSatisfy(\.isASCIIDigit) { return true }
        return label.hasPrefix("0x") && label.dropFirst(2).allSatisfy { $0.isHexDigit }
    }
}
