// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The directives of a response's `Cache-Control` fields that a shared cache follows (RFC 9111 §5.2.2).
///
/// Names are case-insensitive, arguments tokens or quoted strings, unknown directives are dropped. If a
/// lifetime is repeated or invalid, the shorter or stale reading counts (RFC 9111 §4.2.1).
package struct CacheControl: Sendable, Hashable {
    /// `max-age` in seconds; 0 if its argument is invalid.
    package private(set) var maxAge: Int64?
    /// `s-maxage` in seconds; 0 if its argument is invalid.
    package private(set) var sharedMaxAge: Int64?
    /// `stale-while-revalidate` in seconds (RFC 5861 §3); nil if its argument is invalid.
    package private(set) var staleWhileRevalidate: Int64?
    /// `stale-if-error` in seconds (RFC 5861 §4); nil if its argument is invalid.
    package private(set) var staleIfError: Int64?
    /// The directives without a number.
    package private(set) var directives: SourceRecord.Directives = []
    private(set) var isPublic = false
    /// `must-understand` (RFC 9111 §5.2.2.3).
    private(set) var mustUnderstand = false
    /// The fields, in lower case, to which `private="…"` or `no-cache="…"` are restricted.
    private(set) var restrictedFields: Set<String> = []

    /// A larger number of seconds becomes this one (RFC 9111 §1.2.2).
    static let mostSeconds: Int64 = 1 << 31

    /// Parses all field lines, as if they were one joined by commas (RFC 9110 §5.3).
    package init(_ fieldValues: [String]) {
        for value in fieldValues {
            for directive in FieldList(value) { apply(directive.name, directive.argument) }
        }
    }

    private mutating func apply(_ name: String, _ argument: String?) {
        switch name {
        case "max-age": maxAge = min(maxAge ?? .max, Self.seconds(argument) ?? 0)
        case "s-maxage":
            sharedMaxAge = min(sharedMaxAge ?? .max, Self.seconds(argument) ?? 0)
            // s-maxage includes the meaning of proxy-revalidate (RFC 9111 §5.2.2.10).
            directives.insert(.proxyRevalidate)
        case "stale-while-revalidate": staleWhileRevalidate = shorter(staleWhileRevalidate, argument)
        case "stale-if-error": staleIfError = shorter(staleIfError, argument)
        case "no-cache": restrict(.noCache, argument)
        case "private": restrict(.isPrivate, argument)
        case "no-store": directives.insert(.noStore)
        case "must-revalidate": directives.insert(.mustRevalidate)
        case "proxy-revalidate": directives.insert(.proxyRevalidate)
        case "must-understand": mustUnderstand = true
        case "immutable": directives.insert(.immutable)
        case "no-transform": directives.insert(.noTransform)
        case "public": isPublic = argument == nil || isPublic
        default: return
        }
    }

    private func shorter(_ known: Int64?, _ argument: String?) -> Int64? {
        guard let seconds = Self.seconds(argument) else { return known }
        return min(known ?? .max, seconds)
    }

    /// With field names the directive applies to those fields alone (RFC 9111 §5.2.2.4, §5.2.2.7); else to
    /// the whole response.
    private mutating func restrict(_ directive: SourceRecord.Directives, _ argument: String?) {
        let names = argument.map { FieldList($0).map { $0 } } ?? []
        guard !names.isEmpty, names.allSatisfy({ $0.argument == nil }) else {
            directives.insert(directive)
            return
        }
        restrictedFields.formUnion(names.map(\.name))
    }

    /// delta-seconds (RFC 9111 §1.2.2), also as a quoted string, which a recipient ought to accept (§5.2).
    package static func seconds(_ argument: String?) -> Int64? {
        guard let argument, !argument.isEmpty, argument.utf8.allSatisfy(\.isASCIIDigit) else {
            return nil
        }
        return min(Int64(argument) ?? mostSeconds, mostSeconds)
    }
}

extension CacheControl {
    /// The same directives as one short field value, without unknown ones; empty if there are none.
    var canonicalText: String {
        let numbers: [(String, Int64?)] = [
            ("max-age", maxAge), ("s-maxage", sharedMaxAge), ("stale-while-revalidate", staleWhileRevalidate),
            ("stale-if-error", staleIfError),
        ]
        let names: [(String, Bool)] = [
            ("no-cache", directives.contains(.noCache)), ("no-store", directives.contains(.noStore)),
            ("private", directives.contains(.isPrivate)),
            ("must-revalidate", directives.contains(.mustRevalidate)),
            ("proxy-revalidate", directives.contains(.proxyRevalidate)),
            ("must-understand", mustUnderstand), ("immutable", directives.contains(.immutable)),
            ("public", isPublic), ("no-transform", directives.contains(.noTransform)),
        ]
        let members =
            names.filter(\.1).map(\.0)
            + numbers.compactMap { name, seconds in seconds.map { "\(name)=\($0)" } }
        return members.joined(separator: ", ")
    }
}
