// SPDX-License-Identifier: Apache-2.0

/// The pairs of a query in their order, for grammars in which no query is malformed; `+` is a plus.
struct DialectQuery {
    /// One pair; without a `=` it has no value.
    struct Item {
        /// The name, decoded.
        let name: String
        /// The value as it stands.
        let rawValue: Substring?

        /// The value, decoded once.
        var value: String? { rawValue.map { String(decoding: PercentText.decoded($0), as: UTF8.self) } }
    }

    /// The pairs; those without a name are left out.
    let items: [Item]

    /// Divides what stands behind the `?`, up to a fragment.
    init(_ text: String?) {
        items = (text ?? "").prefix { $0 != "#" }.split(separator: "&").compactMap { piece in
            let equals = piece.firstIndex(of: "=")
            let name = String(
                decoding: PercentText.decoded(piece[..<(equals ?? piece.endIndex)]), as: UTF8.self)
            guard !name.isEmpty else { return nil }
            return Item(name: name, rawValue: equals.map { piece[piece.index(after: $0)...] })
        }
    }
}
