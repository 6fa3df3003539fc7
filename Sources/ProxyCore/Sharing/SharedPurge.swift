// SPDX-License-Identifier: Apache-2.0

package import Cache
import Primitives

/// One purge, as all nodes learn of it: an object of the journal, whose name says everything.
package struct SharedPurge: Sendable, Hashable {
    package var target: PurgeTarget
    /// The node that was asked to.
    package var node: String
    /// When, in milliseconds since 1970 by the store's clock as that node knew it.
    package var milliseconds: Int64

    /// Combines the members. A prefix is shortened to what a name can contain: then more is purged, never less.
    package init(_ target: PurgeTarget, node: String, milliseconds: Int64) {
        switch target {
        case .prefix(let text): self.target = .prefix(Self.shortened(text))
        default: self.target = target
        }
        (self.node, self.milliseconds) = (node, milliseconds)
    }

    /// The longest text in a name, in bytes: base64 makes four of three, and a name has 1,024 at most with its prefix.
    static let maxTextBytes = 600

    /// The name of its object: `p/<time>-<node>-<target>`.
    package var name: String {
        let digits = String(milliseconds)
        let time = String(repeating: "0", count: max(0, 15 - digits.count)) + digits
        return ObjectName.journal + "\(time)-\(node)-\(code)"
    }

    private var code: String {
        switch target {
        case .source(let key): "s\(key)"
        case .key(let key): "k\(key)"
        case .tag(let text): "t" + Base64.encodeURL(Array(text.utf8))
        case .prefix(let text): "x" + Base64.encodeURL(Array(text.utf8))
        case .everything: "a"
        }
    }

    /// Parses a name; nil if it is none of a purge.
    package init?(name: String) {
        guard name.hasPrefix(ObjectName.journal), name.utf8.count <= 1_024 else { return nil }
        let parts = name.dropFirst(ObjectName.journal.count).split(
            separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let milliseconds = Int64(parts[0]), milliseconds >= 0,
            !parts[1].isEmpty, parts[1].utf8.count <= 32, let target = Self.target(parts[2])
        else { return nil }
        (self.target, node, self.milliseconds) = (target, String(parts[1]), milliseconds)
    }

    private static func target(_ code: Substring) -> PurgeTarget? {
        let rest = String(code.dropFirst())
        func text() -> String? { Base64.decodeURL(rest.utf8).flatMap { String(validOctets: $0[...]) } }
        switch code.first {
        case "s": return CacheKey(rest).map(PurgeTarget.source)
        case "k": return CacheKey(rest).map(PurgeTarget.key)
        case "t": return text().map(PurgeTarget.tag)
        case "x": return text().map(PurgeTarget.prefix)
        case "a": return rest.isEmpty ? .everything : nil
        default: return nil
        }
    }

    private static func shortened(_ text: String) -> String {
        var text = Substring(text)
        while text.utf8.count > maxTextBytes { text = text.dropLast() }
        return String(text)
    }
}
