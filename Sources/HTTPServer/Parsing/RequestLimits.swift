// SPDX-License-Identifier: Apache-2.0

/// How much of a request is read.
public struct RequestLimits: Sendable, Equatable {
    /// Bytes of a head, with the empty lines before and after it; beyond it 431.
    public var headBytes = 16_384
    /// Bytes of a target; beyond it 414.
    public var targetBytes = 8_192
    /// Field lines of a head, and of the trailers after chunked content; beyond it 431.
    public var fieldLines = 100
    /// Empty lines before a request line, which some clients send after content; beyond it 400.
    var emptyLines = 2
    /// Bytes of content; beyond it 413.
    public var contentBytes = 1 << 20
    /// Bytes of all chunk extensions of a request; beyond it 413.
    public var extensionBytes = 4_096
    /// Bytes of the trailers after chunked content; beyond it 431.
    public var trailerBytes = 8_192
}
