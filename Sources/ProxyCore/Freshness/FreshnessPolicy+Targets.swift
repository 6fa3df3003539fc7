// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Cache control for some caches only (RFC 9213), such as `CDN-Cache-Control`.
extension FreshnessPolicy {
    /// A targeted field that addresses this cache.
    struct Targeted {
        /// The field's name, in lower case.
        let name: String
        /// Its canonical value.
        let value: String
        /// The response as this cache reads it: with those directives in place of `Cache-Control` and
        /// `Expires`.
        let head: OriginHead
    }

    /// The first of the configured fields that is present, valid and not empty (RFC 9213 §2.2); nil if none
    /// is.
    func targeted(_ head: OriginHead) -> Targeted? {
        guard configuration.respectOrigin else { return nil }
        for name in configuration.targets {
            let name = name.lowercased()
            let values = head.values(of: name)
            guard !values.isEmpty, let directives = Self.directives(values),
                directives.structured.utf8.count <= Self.maxTargetedBytes
            else { continue }
            var read = head
            read.fields.removeAll { Self.untargeted.contains($0.name) }
            read.fields.append(HeaderField(name: "cache-control", value: directives.plain))
            return Targeted(name: name, value: directives.structured, head: read)
        }
        return nil
    }

    /// The longest canonical value that is stored, in bytes; a field with a longer one counts as absent.
    private static let maxTargetedBytes = 512

    /// The fields that a targeted field replaces.
    private static let untargeted: Set<String> = ["cache-control", "expires", "pragma"]

    /// Directives whose value is a number of seconds.
    private static let numeric: Set<String> = [
        "max-age", "s-maxage", "stale-while-revalidate", "stale-if-error",
    ]
    /// Directives without a value.
    private static let flags: Set<String> = [
        "no-store", "must-revalidate", "proxy-revalidate", "must-understand", "immutable", "public",
        "no-transform",
    ]
    /// Directives that may be restricted to some fields.
    private static let restricting: Set<String> = ["no-cache", "private"]

    /// The directives of a targeted field in both spellings; nil if it is not a dictionary, is empty, or has
    /// a known directive with an invalid value: it then counts as absent (RFC 9213 §2.1).
    private static func directives(_ lines: [String]) -> (plain: String, structured: String)? {
        guard let dictionary = StructuredDictionary(lines), !dictionary.members.isEmpty else { return nil }
        var members: [String] = []
        for (key, value) in dictionary.members {
            switch value {
            case .integer(let seconds) where numeric.contains(key) && seconds >= 0:
                members.append("\(key)=\(min(seconds, CacheControl.mostSeconds))")
            case .boolean(let isSet) where flags.contains(key) || restricting.contains(key):
                if isSet { members.append(key) }
            case .string(let names) where restricting.contains(key) && isFieldList(names):
                members.append("\(key)=\"\(names)\"")
            case _ where numeric.contains(key) || flags.contains(key) || restricting.contains(key): return nil
            default: continue
            }
        }
        // Unknown directives are dropped, yet the field counts.
        let text = members.joined(separator: ", ")
        return (text, text.isEmpty ? "unknown" : text)
    }

    private static func isFieldList(_ text: String) -> Bool {
        text.utf8.allSatisfy { isTokenByte($0) || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") }
    }
}
