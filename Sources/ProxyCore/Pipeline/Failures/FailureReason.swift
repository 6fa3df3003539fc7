// SPDX-License-Identifier: Apache-2.0

import Primitives
package import URLs

/// What was said of a failure, for the log alone.
package struct FailureReason: Sendable, NotCompared {
    /// The text: printable ASCII, at most `maxBytes`; empty when nothing was said.
    package let text: String
    /// Host and port where it failed, unless those are the source's own: of a redirect's target, or of a rewritten URL.
    package let hop: String

    /// Most bytes of a text.
    package static let maxBytes = 256

    /// Nothing was said.
    package static let none = FailureReason("")

    /// Keeps the text's beginning, with `?` in place of each byte that is not printable ASCII: an origin's certificate may
    /// have chosen some of them.
    package init(_ text: String, at hop: SourceURL.Origin? = nil) {
        let bytes = text.utf8.prefix(Self.maxBytes).map { byte in
            (0x20...0x7E).contains(byte) ? byte : UInt8(ascii: "?")
        }
        self.text = String(decoding: bytes, as: UTF8.self)
        self.hop = hop.map { $0.port > 0 ? "\($0.host):\($0.port)" : $0.host } ?? ""
    }

    /// Bytes that it takes of memory beside its own place.
    var byteCount: Int { text.utf8.count + hop.utf8.count }
}
