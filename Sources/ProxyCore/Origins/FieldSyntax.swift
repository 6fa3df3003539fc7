// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The syntax of configured header fields (RFC 9110 §5), and the names that may be configured.
package enum FieldSyntax {
    /// Fields that frame the message or request a part of it; a configured one would break the loader.
    private static let reserved: Set<String> = [
        "accept-encoding", "cdn-loop", "connection", "content-length", "expect", "host", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "keep-alive", "range", "te",
        "trailer", "transfer-encoding", "upgrade", "user-agent", "via",
    ]

    /// Whether the configuration may set a field of this name.
    package static func mayBeConfigured(_ name: String) -> Bool {
        name.isToken && !reserved.contains(name.lowercased())
    }

    /// Whether `text` can be sent unchanged as a field's value.
    package static func isValue(_ text: String) -> Bool { text.isFieldValue }
}
