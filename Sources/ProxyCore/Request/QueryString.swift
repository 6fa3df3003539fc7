// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// A query split into names and values, each percent-decoded once; `+` is literal, and nothing is ignored.
package struct QueryString: Sendable {
    /// The pairs in their order.
    package let items: [QueryItem]

    /// The maximum number of parameters of one query. There are fewer known ones, so a longer query has an
    /// unknown or a repeated one.
    static let maxItems = 32

    /// Wraps pairs with different names.
    package init(items: [QueryItem]) {
        self.items = items
    }

    /// Parses the bytes after `?`.
    ///
    /// O(n), because only `maxItems` names are compared with each other.
    ///
    /// - Parameters:
    ///   - bytes: names and values, percent-encoded.
    ///   - isKnown: whether there is a parameter with this name; an unknown one may have an empty value, so
    ///     that the error is about its name.
    /// - Throws: `.invalidParameter` for a malformed escape, a value that is empty or invalid UTF-8, a
    ///   repeated name, or more than `maxItems`.
    package init(
        parsing bytes: some Collection<UInt8>, knowing isKnown: (String) -> Bool = { _ in true }
    ) throws(ImageRequestError) {
        var items: [QueryItem] = []
        let bytes = Array(bytes)
        var start = 0
        while start < bytes.count || (start == bytes.count && start > 0) {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "&")) ?? bytes.count
            let item = try Self.item(bytes[start..<end], isKnown)
            guard !items.contains(where: { $0.name == item.name }) else {
                throw .invalidParameter(
                    name: item.name.excerpt, position: 0, reason: "given more than once")
            }
            guard items.count < Self.maxItems else {
                throw .invalidParameter(
                    name: item.name.excerpt, position: 0,
                    reason: "at most \(Self.maxItems) parameters; '&' in the source URL is written as %26")
            }
            items.append(item)
            start = end + 1
        }
        self.items = items
    }

    private static func item(
        _ piece: ArraySlice<UInt8>, _ isKnown: (String) -> Bool
    ) throws(ImageRequestError) -> QueryItem {
        let equals = piece.firstIndex(of: UInt8(ascii: "="))
        let name = try decode(piece[..<(equals ?? piece.endIndex)], parameter: nil)
        guard !name.isEmpty else {
            throw .unknownParameter(name: "", hint: "a parameter is name=value, joined by a single '&'")
        }
        guard let equals, equals + 1 != piece.endIndex else {
            guard isKnown(name) else { return QueryItem(name: name, value: "") }
            throw .invalidParameter(name: name.excerpt, position: 0, reason: "the value is empty")
        }
        return QueryItem(name: name, value: try decode(piece[(equals + 1)...], parameter: name))
    }

    /// Decodes `%HH` once. The offset in an error counts the bytes as they were sent.
    private static func decode(
        _ bytes: ArraySlice<UInt8>, parameter: String?
    ) throws(ImageRequestError) -> String {
        guard bytes.contains(UInt8(ascii: "%")) else { return try text(bytes, parameter) }
        let (decoded, fault) = percentDecoded(bytes)
        if let fault {
            throw .invalidParameter(
                name: parameter?.excerpt ?? "", position: fault,
                reason: "'%' must be followed by two hexadecimal digits")
        }
        return try text(decoded[...], parameter)
    }

    private static func text(
        _ bytes: ArraySlice<UInt8>, _ parameter: String?
    ) throws(ImageRequestError) -> String {
        guard let text = String(validOctets: bytes) else {
            throw .invalidParameter(name: parameter?.excerpt ?? "", position: 0, reason: "not valid UTF-8")
        }
        return text
    }
}
