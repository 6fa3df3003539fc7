// SPDX-License-Identifier: Apache-2.0

/// How much of a request is read.
struct RequestLimits: Sendable, Equatable {
    /// Bytes of a head, with the empty lines before and after it; beyond it 431.
    var headBytes = 16_384
    /// Bytes of a target; beyond it 414.
    var targetBytes = 8_192
    /// Field lines of a head, and of a trailer section; beyond it 431.
    var fieldLines = 100
    /// Empty lines before a request line, which some clients send after content; beyond it 400.
    var emptyLines = 2
    /// Bytes of content; beyond it 413.
    var contentBytes = 1 << 20
    /// Bytes of all chunk extensions of a request; beyond it 413.
    var extensionBytes = 4_096
    /// Bytes of a trailer section; beyond it 431.
    var trailerBytes = 8_192
}

extension RequestLimits {
    /// The configured bounds.
    init(_ configuration: HTTPServer.Configuration) {
        headBytes = configuration.maxHeaderBytes
        targetBytes = configuration.maxTargetBytes
        fieldLines = configuration.maxFieldLines
        contentBytes = configuration.maxBodyBytes
        extensionBytes = configuration.maxExtensionBytes
        trailerBytes = configuration.maxTrailerBytes
    }
}
