// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Whether a byte may be part of a token (RFC 9110 §5.6.2).
@inlinable
package func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}

extension StringProtocol {
    /// Whether the text is a token (RFC 9110 §5.6.2), as the name of a field is.
    package var isToken: Bool { !isEmpty && utf8.allSatisfy(isTokenByte) }

    /// Whether the text can be sent unchanged as a field's value: it has no control characters but tabs (RFC 9110 §5.5).
    package var isFieldValue: Bool { utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) } }

    /// The members of a field's list (RFC 9110 §5.6.1), with their blanks.
    ///
    /// Split at bytes: a comma beside certain code points is a part of a longer `Character`.
    package var listMembers: [Substring] {
        Substring(self).utf8.split(separator: UInt8(ascii: ",")).map { Substring($0) }
    }
}

extension Substring {
    /// The text without the spaces and tabs at its ends.
    package var trimmingBlanks: Substring {
        var rest = drop { $0 == " " || $0 == "\t" }
        while rest.last == " " || rest.last == "\t" { rest.removeLast() }
        return rest
    }
}

/// The system's description of an error.
package func systemErrorText(_ code: CInt) -> String {
    // Safe because strerror's text is copied at once, and is the calling thread's own (glibc 2.32).
    unsafe String(cString: strerror(code))
}
