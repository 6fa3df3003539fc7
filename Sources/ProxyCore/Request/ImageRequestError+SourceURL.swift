// SPDX-License-Identifier: Apache-2.0

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

    private static func complaint(about error: SourceURLError, in text: String) -> String {
        switch error {
        case .unsupportedScheme: "only http and https are supported"
        case .forbiddenCharacter: "spaces and control characters must be percent-encoded"
        case .tooLong: "longer than \(SourceURL.maxBytes) bytes"
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
