// SPDX-License-Identifier: Apache-2.0

/// How a client learns where an answer ends (RFC 9112 §6.3).
enum ResponseFraming: Equatable {
    /// Its body has so many bytes.
    case length(Int)
    /// By the last chunk (RFC 9112 §7.1).
    case chunked
    /// Where the connection ends: for clients of HTTP/1.0, who know no chunks.
    case untilClose
}
