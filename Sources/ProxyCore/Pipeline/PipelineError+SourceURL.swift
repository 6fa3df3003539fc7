// SPDX-License-Identifier: Apache-2.0

extension PipelineError {
    /// Says what is wrong with a source URL, in words for the one who wrote it.
    init(_ error: SourceURLError) {
        guard case .unsupportedScheme(let scheme) = error else {
            let (position, reason) = Self.complaint(about: error)
            self = .invalidURL(position: position, reason: reason)
            return
        }
        self = .unsupportedScheme(scheme)
    }

    /// Where and what is wrong.
    private static func complaint(about error: SourceURLError) -> (position: Int, reason: String) {
        switch error {
        case .unsupportedScheme: (0, "only http and https are supported")
        case .forbiddenCharacter(let position):
            (position, "spaces and control characters must be percent-encoded")
        case .tooLong: (SourceURL.maxBytes, "longer than \(SourceURL.maxBytes) bytes")
        case .notAbsolute: (0, "must be absolute: http:// or https:// and a host")
        case .userInfo: (0, "a user name or password is not allowed")
        case .nonASCIIHost: (0, "the host must be ASCII; write it in its xn-- form")
        case .invalidHost: (0, "the host is neither a name nor an address")
        case .invalidPort: (0, "the port must be from 1 to 65535")
        case .malformed(let reason): (0, reason)
        }
    }
}
