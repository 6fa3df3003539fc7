// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The equivalent forms of one path with its query.
///
/// Also used for the paths of patterns, whose `*` is unchanged; an escaped `*` stays escaped in both.
package enum URLPath {
    private static let slash = UInt8(ascii: "/")
    private static let backslash = UInt8(ascii: "\\")
    private static let percent = UInt8(ascii: "%")
    private static let question = UInt8(ascii: "?")
    private static let star = UInt8(ascii: "*")

    /// Whether a path has another form than its spelling.
    static func hasOtherForms(_ path: [UInt8]) -> Bool {
        path.contains { $0 == percent || $0 == backslash }
            || zip(path, path.dropFirst()).contains { $0 == (slash, slash) }
    }

    /// The common form of equivalent paths (RFC 3986 §6.2.2): unreserved characters decoded, other escapes in
    /// upper case. Dot segments, also escaped ones, have been removed before.
    package static func normal(_ path: [UInt8]) -> [UInt8] {
        decoding(path, where: \.isUnreserved)
    }

    /// The form that a lenient server may read: escapes decoded once, backslashes as slashes, empty segments
    /// dropped, dot segments removed. The query is in normal form.
    static func loose(_ path: [UInt8]) -> [UInt8] {
        let end = path.firstIndex(of: question) ?? path.endIndex
        let plain = decoding(Array(path[..<end]), where: { $0 != star }).map { $0 == backslash ? slash : $0 }
        return withoutDots(plain) + normal(Array(path[end...]))
    }

    /// A path with its query and fragment, in which each byte that none of them may contain is
    /// percent-encoded, and so is a `%` that begins no escape (RFC 3986 §2.1, §3.3, §3.4).
    package static func encoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.count)
        for place in text.indices {
            let byte = text[place]
            if byte == percent ? isEscape(text[place...]) : isURIByte(byte) {
                encoded.append(byte)
            } else {
                encoded += byte.percentEncoded
            }
        }
        return encoded
    }

    private static func isEscape(_ text: ArraySlice<UInt8>) -> Bool {
        let digits = text.dropFirst().prefix(2)
        return digits.count == 2 && digits.allSatisfy { hexDigit($0) != nil }
    }

    /// Whether a byte may occur unencoded after an authority: `pchar` and delimiters (RFC 3986 §3.3 to §3.5).
    private static func isURIByte(_ byte: UInt8) -> Bool {
        byte.isUnreserved || "!$&'()*+,;=:@/?#".utf8.contains(byte)
    }

    /// Decodes the escapes of certain bytes, and writes the others in upper case; a malformed escape is
    /// unchanged.
    private static func decoding(_ text: [UInt8], where isDecoded: (UInt8) -> Bool) -> [UInt8] {
        guard text.contains(percent) else { return text }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(text.count)
        var place = text.startIndex
        while place < text.endIndex {
            guard text[place] == percent, place + 2 < text.endIndex, let high = hexDigit(text[place + 1]),
                let low = hexDigit(text[place + 2])
            else {
                decoded.append(text[place])
                place += 1
                continue
            }
            let byte = high << 4 | low
            decoded +=
                isDecoded(byte) ? [byte] : [percent, upperCase(text[place + 1]), upperCase(text[place + 2])]
            place += 3
        }
        return decoded
    }

    private static func withoutDots(_ path: [UInt8]) -> [UInt8] {
        guard path.first == slash else { return path }
        var kept: [ArraySlice<UInt8>] = []
        let segments = path.split(separator: slash)
        for segment in segments where !segment.elementsEqual(".".utf8) {
            if segment.elementsEqual("..".utf8) { _ = kept.popLast() } else { kept.append(segment) }
        }
        let plain = kept.flatMap { [slash] + $0 }
        return path.last == slash || kept.isEmpty ? plain + [slash] : plain
    }

    private static func upperCase(_ byte: UInt8) -> UInt8 {
        (0x61...0x66).contains(byte) ? byte - 0x20 : byte
    }
}
