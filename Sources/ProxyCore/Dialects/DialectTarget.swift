// SPDX-License-Identifier: Apache-2.0

/// A request target as the client sent it, without the prefix of its dialect.
package struct DialectTarget: Sendable, Hashable {
    /// The path, still percent-encoded; begins with `/`.
    package let path: String
    /// The query, still percent-encoded, without the `?`; nil if there is no `?`.
    package let query: String?
    /// Seconds since 1970.
    package let now: Int64
    /// Whether the request brings the picture as its body.
    package let hasBody: Bool
    /// The key that stands in a field of the request, and not in the target; never empty.
    package let key: String?

    /// Divides a target, path and query, at its first `?`, also where a combining mark follows and makes one character of both.
    package init(
        _ target: some StringProtocol, now: Int64 = 0, hasBody: Bool = false, key: String? = nil
    ) {
        self.key = key
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?"))
        path = String(target[..<(mark ?? target.endIndex)])
        query = mark.map { String(target[target.utf8.index(after: $0)...]) }
        self.now = now
        self.hasBody = hasBody
    }
}
