// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Checks a source URL before libcurl parses it, because libcurl would repair some errors silently.
enum SourceURLSyntax {
    /// Checks length, characters, scheme and the raw authority of an absolute URL.
    static func check(_ text: String) throws(SourceURLError) {
        try checkCharacters(text)
        let scheme = try scheme(of: text)
        guard defaultPort(of: scheme) != nil else { throw .unsupportedScheme(scheme) }
        let rest = text.utf8.dropFirst(scheme.utf8.count)
        guard rest.starts(with: "://".utf8) else { throw .notAbsolute }
        try check(authority: rest.dropFirst(3).prefix { !isAuthorityEnd($0) })
    }

    /// Checks length and characters of any reference.
    static func checkCharacters(_ text: String) throws(SourceURLError) {
        guard text.utf8.count <= SourceURL.maxBytes else { throw .tooLong }
        for (offset, byte) in text.utf8.enumerated() where byte <= 0x20 || byte == 0x7F {
            throw .forbiddenCharacter(offset)
        }
    }

    /// Whether a reference begins with a scheme (RFC 3986 §3.1).
    static func hasScheme(_ text: String) -> Bool {
        let name = text.utf8.prefix { isSchemeByte($0) }
        guard let first = name.first, first.isASCIILetter else { return false }
        return text.utf8.dropFirst(name.count).first == UInt8(ascii: ":")
    }

    /// The default port of a scheme; nil for an unsupported scheme.
    static func defaultPort(of scheme: String) -> Int? {
        switch scheme {
        case "http": 80
        case "https": 443
        default: nil
        }
    }

    /// Percent-encodes the characters that a URI can't contain, from the path of an absolute URL on.
    static func percentEncoding(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard let slashes = bytes.indices.dropLast(2).first(where: { bytes[$0...].starts(with: "://".utf8) })
        else { return text }
        let start = bytes[(slashes + 3)...].firstIndex(where: isAuthorityEnd) ?? bytes.endIndex
        return String(decoding: bytes[..<start] + URLPath.encoded(bytes[start...]), as: UTF8.self)
    }

    /// Decodes encoded full stops of the path (RFC 3986 §6.2.2.2), so that they can't hide a dot segment.
    static func decodingDots(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
        guard bytes[..<end].contains(UInt8(ascii: "%")) else { return text }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var place = 0
        while place < end {
            let isDot =
                bytes[place] == UInt8(ascii: "%") && place + 2 < end
                && bytes[place + 1] == UInt8(ascii: "2") && bytes[place + 2] | 0x20 == UInt8(ascii: "e")
            decoded.append(isDot ? UInt8(ascii: ".") : bytes[place])
            place += isDot ? 3 : 1
        }
        return String(decoding: decoded + bytes[end...], as: UTF8.self)
    }

    private static func scheme(of text: String) throws(SourceURLError) -> String {
        guard hasScheme(text) else { throw .notAbsolute }
        return String(decoding: text.utf8.prefix { isSchemeByte($0) }, as: UTF8.self).lowercased()
    }

    /// Allows only names, addresses and ports: no `%`, which libcurl would decode, and no backslash.
    private static func check(authority: Substring.UTF8View) throws(SourceURLError) {
        guard !authority.isEmpty else { throw .notAbsolute }
        guard !authority.contains(UInt8(ascii: "@")) else { throw .userInfo }
        guard authority.allSatisfy({ $0 < 0x80 }) else { throw .nonASCIIHost }
        guard authority.allSatisfy(isAuthorityByte) else { throw .invalidHost }
    }

    static func isAuthorityEnd(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    /// Whether an authority may contain a byte: names, addresses and ports only.
    static func isAuthorityByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "["),
            UInt8(ascii: "]"):
            true
        default: byte.isASCIIAlphanumeric
        }
    }

    private static func isSchemeByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }

}
