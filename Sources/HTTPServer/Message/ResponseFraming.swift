// SPDX-License-Identifier: Apache-2.0

/// How a client recognizes the end of an answer (RFC 9112 §6.3).
enum ResponseFraming: Equatable {
    /// The body has so many bytes.
    case length(Int)
    /// By the last chunk (RFC 9112 §7.1).
    case chunked
    /// By the end of the connection: for clients of HTTP/1.0, which does not know chunks.
    case untilClose
}
