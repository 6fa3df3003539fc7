// SPDX-License-Identifier: Apache-2.0

import Freshness
import Primitives

/// A content coding that the loader decodes although it requests none (RFC 9110 §8.4.1).
///
/// All others, also `br`, `zstd` and `compress`, are refused: an origin may use them only if the request
/// accepts them.
package enum ContentCoding: Sendable, Hashable {
    /// `gzip`, and `x-gzip`, which is equivalent.
    case gzip
    /// `deflate`: with the zlib wrapping of RFC 1950, or bare (RFC 1951), as many servers send it.
    case deflate

    /// The maximum number of codings of one body. Useful responses have one; a server that compresses a compressed file sends
    /// two.
    private static let most = 2

    /// Returns the codings of a body in the order in which they were applied, without `identity`.
    /// - Throws: `incomplete` for an unknown coding or for too many.
    static func list(in fields: [HeaderField]) throws(LoadError) -> [ContentCoding] {
        var codings: [ContentCoding] = []
        for field in fields where field.name == "content-encoding" {
            for member in field.value.lowercased().listMembers {
                switch member.trimmingBlanks {
                case "gzip", "x-gzip": codings.append(.gzip)
                case "deflate": codings.append(.deflate)
                case "", "identity": continue
                default: throw .incomplete("a content coding that was not requested")
                }
            }
        }
        guard codings.count <= most else { throw .incomplete("too many content codings") }
        return codings
    }

    /// Whether the body's transfer coding is one that every recipient knows: none, or `chunked` once (RFC
    /// 9112 §6.1, §7).
    ///
    /// Others need a `TE` field, which the loader does not send. libcurl decodes `chunked`; with another
    /// coding, also the obsolete `identity`, it sees no length either, and would accept a truncated body as
    /// complete.
    static func isPlainlyTransferred(_ fields: [HeaderField]) -> Bool {
        let values = fields.filter { $0.name == "transfer-encoding" }.map { $0.value.lowercased() }
        guard !values.isEmpty else { return true }
        let codings = values.flatMap(\.listMembers).map(\.trimmingBlanks).filter { !$0.isEmpty }
        return codings == ["chunked"]
    }
}
