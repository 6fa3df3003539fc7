// SPDX-License-Identifier: Apache-2.0

import Primitives
import URLs

extension ImageRequestError {
    /// What is wrong with `text` as a source URL, in words for the one who wrote it.
    init(_ error: SourceURLError, in text: String) {
        guard case .unsupportedScheme(let scheme) = error else {
            self = .invalidURL(
                position: SourceURLFault.position(of: error, in: text),
                reason: Self.complaint(about: error, in: text))
            return
        }
        self = .unsupportedScheme(scheme.excerpt)
    }

    private static func isEncodedTwice(_ text: String) -> Bool {
        ["http%3a", "https%3a"].contains { text.lowercased().hasPrefix($0) }
    }

    private static func complaint(aboutCharacterAt position: Int, of text: String) -> String {
        let byte = text.utf8.dropFirst(position).first ?? 0
        let code = byte.hexadecimal.uppercased()
        let name = byte == UInt8(ascii: " ") ? "a space" : "a control character"
        return "the source URL has \(name): it must be %\(code) there, which is %25\(code) in 'url'"
    }

    private static func complaint(about error: SourceURLError, in text: String) -> String {
        switch error {
        case .unsupportedScheme: "only http and https are supported"
        case .unknownBucket(let bucket): "no rule of the setting origins has the bucket '\(bucket.excerpt)'"
        case .forbiddenCharacter(let position): complaint(aboutCharacterAt: position, of: text)
        case .tooLong: "longer than \(SourceURL.maxBytes) bytes"
        case .notAbsolute where isEncodedTwice(text):
            "it is percent-encoded twice: decoded once, it must begin with http:// or https://"
        case .notAbsolute: "must be absolute: http:// or https:// and a host"
        case .userInfo: "a user name or password is not allowed"
        case .nonASCIIHost: "the host must be ASCII; write it in its xn-- form"
        case .invalidHost where SourceURLFault.hasTrailingDot(text): "the host must not end in a dot"
        case .invalidHost: "the host is neither a name nor an address"
        case .invalidPort: "the port must be from 1 to 65535"
        case .malformed(let reason): reason
        }
    }
}
