// SPDX-License-Identifier: Apache-2.0

/// Finds the position of the error in an invalid source URL, for the error message.
package enum SourceURLFault {
    /// Returns the offset of `error` in `text`, in bytes; for an error without one position, the start of its
    /// part.
    package static func position(of error: SourceURLError, in text: String) -> Int {
        let authority = authority(of: text)
        switch error {
        case .forbiddenCharacter(let position): return position
        case .tooLong: return min(text.utf8.count, SourceURL.maxBytes)
        case .notAbsolute, .unsupportedScheme, .unknownBucket, .malformed: return 0
        case .userInfo: return authority.lowerBound
        case .nonASCIIHost: return first(in: text, authority) { $0 >= 0x80 } ?? authority.lowerBound
        case .invalidHost: return hostFault(in: text, authority)
        case .invalidPort: return portStart(in: text, authority) ?? authority.upperBound
        }
    }

    /// Whether the host ends in a dot, for which the error has its own text.
    package static func hasTrailingDot(_ text: String) -> Bool {
        host(in: text, authority(of: text)).last == UInt8(ascii: ".")
    }

    private static func hostFault(in text: String, _ authority: Range<Int>) -> Int {
        let wrong = first(in: text, authority) { !SourceURLSyntax.isAuthorityByte($0) }
        if let wrong { return wrong }
        let host = host(in: text, authority)
        guard host.last == UInt8(ascii: ".") else { return authority.lowerBound }
        return authority.lowerBound + host.count - 1
    }

    /// The bytes between `://` and the end of the authority; empty without an authority.
    private static func authority(of text: String) -> Range<Int> {
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8)
        else { return 0..<0 }
        let start = colon + 3
        return start..<(bytes[start...].firstIndex(where: SourceURLSyntax.isAuthorityEnd) ?? bytes.endIndex)
    }

    private static func host(in text: String, _ authority: Range<Int>) -> ArraySlice<UInt8> {
        let end = portStart(in: text, authority).map { $0 - 1 } ?? authority.upperBound
        return Array(text.utf8)[authority.lowerBound..<end]
    }

    /// The start of the port: after the last colon outside brackets.
    private static func portStart(in text: String, _ authority: Range<Int>) -> Int? {
        let bytes = Array(text.utf8)[authority]
        guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")),
            !bytes[colon...].contains(UInt8(ascii: "]"))
        else { return nil }
        return colon + 1
    }

    private static func first(
        in text: String, _ range: Range<Int>, where isWrong: (UInt8) -> Bool
    ) -> Int? {
        Array(text.utf8)[range].firstIndex(where: isWrong)
    }
}
