// SPDX-License-Identifier: Apache-2.0

import Crypto

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
    func checked(_ target: ForeignTarget, isSigned: inout Bool) throws(TranslationError) -> String? {
        let (query, code) = Self.divided(target.query)
        guard !tokens.isEmpty else { return query }
        guard let code else { throw TranslationError(.signature, "s", "a signature is needed, as the last parameter") }
        let path = Array(target.path.utf8)
        // A client adds the question mark alone where there are other parameters; libraries differ.
        let forms = query.map { [path + [UInt8(ascii: "?")] + $0.utf8] } ?? [path, path + [UInt8(ascii: "?")]]
        for form in forms where form.allSatisfy({ (0x21...0x7E).contains($0) }) {
            for token in tokens where !token.isEmpty {
                if Self.equal(Self.hexadecimal(Insecure.MD5.hash(data: token + form)), code) { isSigned = true }
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

    private static func hexadecimal(_ digest: Insecure.MD5Digest) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    /// Compares in a time that depends on the lengths alone.
    private static func equal(_ own: [UInt8], _ given: Substring) -> Bool {
        let given = Array(given.utf8)
        guard given.count == own.count else { return false }
        return zip(own, given).reduce(0 as UInt8) { $0 | ($1.0 ^ ($1.1 | ($1.1 >= 0x41 ? 0x20 : 0))) } == 0
    }
}
