// SPDX-License-Identifier: Apache-2.0

/// `*( BWS ";" BWS name [ BWS "=" BWS value ] )` and the CR after it (RFC 9112 §7.1.1), octet by octet. Pure.
struct ChunkExtension: Equatable {
    private enum State {
        case beforeSemicolon
        case beforeName, name, afterName
        case beforeValue, token, quoted, escaped, afterQuoted
    }

    private var state = State.beforeSemicolon

    /// Reads one octet; true for the CR that ends the extensions.
    mutating func step(_ octet: UInt8) throws(RequestError) -> Bool {
        switch octet {
        case _ where state == .quoted || state == .escaped: try readQuoted(octet)
        case Octet.space, Octet.tab: try readSpace()
        case Octet.carriageReturn:
            guard mayEnd else { throw .malformed }
            return true
        case UInt8(ascii: ";"):
            guard mayEnd || state == .beforeSemicolon || state == .afterName else { throw .malformed }
            state = .beforeName
        case UInt8(ascii: "="):
            guard state == .name || state == .afterName else { throw .malformed }
            state = .beforeValue
        case UInt8(ascii: "\""):
            guard state == .beforeValue else { throw .malformed }
            state = .quoted
        default: try readToken(octet)
        }
        return false
    }

    /// Whether what has been read is complete. White space alone is not, nor after a name or value at the
    /// line's end.
    private var mayEnd: Bool { state == .name || state == .token || state == .afterQuoted }

    private mutating func readSpace() throws(RequestError) {
        switch state {
        case .beforeSemicolon, .beforeName, .afterName, .beforeValue: return
        case .name: state = .afterName
        case .token, .afterQuoted: state = .beforeSemicolon
        case .quoted, .escaped: throw .malformed
        }
    }

    private mutating func readToken(_ octet: UInt8) throws(RequestError) {
        guard OctetSet.token.contains(octet) else { throw .malformed }
        switch state {
        case .beforeName, .name: state = .name
        case .beforeValue, .token: state = .token
        default: throw .malformed
        }
    }

    /// `quoted-string` (RFC 9110 §5.6.4).
    private mutating func readQuoted(_ octet: UInt8) throws(RequestError) {
        guard Octet.isFieldText(octet) else { throw .malformed }
        switch (state, octet) {
        case (.escaped, _): state = .quoted
        case (_, UInt8(ascii: "\\")): state = .escaped
        case (_, UInt8(ascii: "\"")): state = .afterQuoted
        default: break
        }
    }
}
