// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Signatures in the URLs of other proxies: a MAC as base64url, perhaps cut.
enum MACText {
    /// The text of a MAC.
    ///
    /// - Parameters:
    ///   - isPadded: whether `=` fills it up to a multiple of four characters.
    ///   - length: how many characters of it are kept; nil for all.
    static func text(of mac: some Sequence<UInt8>, isPadded: Bool, length: Int? = nil) -> String {
        var text = Base64.encodeURL(mac)
        if isPadded { text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4) }
        return length.map { String(text.prefix($0)) } ?? text
    }

    /// Whether two texts are equal; the time does not depend on where they differ.
    static func areEqual(_ given: some StringProtocol, _ expected: String) -> Bool {
        Array(given.utf8).isEqualInConstantTime(to: Array(expected.utf8))
    }
}
