// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The signature of imgix's URLs: MD5 of token, path, and query without the last parameter, `s`.
///
/// MD5 of a secret in front of a text can be extended without the secret, but only by bytes that no target
/// contains: the padding has a byte above 0x7F. So these are refused.
struct ImgixSignature: Sendable {
    private let tokens: [[UInt8]]

    /// - Parameter tokens: without one nothing needs a signature, and none is looked at. An empty one would sign for
    ///   everybody, so it fits none.
    init(tokens: [[UInt8]]) {
        self.tokens = tokens
    }

    /// Returns the query without the signature.
    ///
    /// The time does not depend on which token fits, or whether one does.
    func checked(_ target: DialectTarget, isSigned: inout Bool) throws(TranslationError) -> String? {
        let (query, code) = Self.divided(target.query)
        guard !tokens.isEmpty else { return query }
        guard let code else {
            throw TranslationError(.signature, "s", "a signature is needed, as the last parameter")
        }
        let path = Array(target.path.utf8)
        // A client adds the question mark alone where there are other parameters; libraries differ.
        let forms =
            query.map { [path + [UInt8(ascii: "?")] + $0.utf8] } ?? [path, path + [UInt8(ascii: "?")]]
        for form in forms where form.allSatisfy({ (0x21...0x7E).contains($0) }) {
            for token in tokens where !token.isEmpty {
                let own = HashFunction.md5.hash(token + form).hexadecimal
                if MACText.areEqual(code.lowercased(), own) { isSigned = true }
            }
        }
        guard isSigned else { throw TranslationError(.signature, "s", "the signature is wrong") }
        return query
    }

    /// The query before a last parameter `s`, and its value.
    private static func divided(_ query: String?) -> (rest: String?, code: Substring?) {
        guard let query else { return (nil, nil) }
        let start = query.lastIndex(of: "&")
        let last = query[(start.map { query.index(after: $0) } ?? query.startIndex)...]
        guard last.hasPrefix("s=") else { return (query, nil) }
        return (start.map { String(query[..<$0]) }, last.dropFirst(2))
    }
}
