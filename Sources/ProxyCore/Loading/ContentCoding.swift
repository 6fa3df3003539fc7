// SPDX-License-Identifier: Apache-2.0

/// A content coding that is undone although none is asked for (RFC 9110 §8.4.1).
///
/// Others, `br`, `zstd` and `compress` among them, are refused: an origin may use them only where they are accepted.
enum ContentCoding: Sendable, Hashable {
    /// `gzip`, and `x-gzip`, which means the same.
    case gzip
    /// `deflate`: wrapped as in RFC 1950, or bare as many send it.
    case deflate

    /// Most codings of one body; more than one make no sense as it is.
    private static let most = 5

    /// The codings of a body in the order in which they were applied, `identity` left out.
    /// - Throws: `incomplete` where one is not known or there are too many.
    static func list(in fields: [OriginRequest.Field]) throws(LoadError) -> [ContentCoding] {
        var codings: [ContentCoding] = []
        for field in fields where field.name == "content-encoding" {
            for member in field.value.lowercased().split(separator: ",") {
                switch member.trimmingBlanks {
                case "gzip", "x-gzip": codings.append(.gzip)
                case "deflate": codings.append(.deflate)
                case "", "identity": continue
                default: throw .incomplete("a content coding that was not asked for")
                }
            }
        }
        guard codings.count <= most else { throw .incomplete("too many content codings") }
        return codings
    }

    /// Whether the way the body was transferred is one that every recipient knows: `chunked`, once (RFC 9112 §6.1, §7).
    ///
    /// Others need a `TE` field, which is not sent. libcurl undoes `chunked`; where there is another coding, `identity` of old
    /// among them, it sees no length either, and would take a body that is cut for whole.
    static func isPlainlyTransferred(_ fields: [OriginRequest.Field]) -> Bool {
        let values = fields.filter { $0.name == "transfer-encoding" }.map { $0.value.lowercased() }
        guard !values.isEmpty else { return true }
        let codings = values.flatMap { $0.split(separator: ",") }.map(\.trimmingBlanks).filter { !$0.isEmpty }
        return codings == ["chunked"]
    }
}

extension Substring {
    fileprivate var trimmingBlanks: Substring {
        var rest = drop { $0 == " " || $0 == "\t" }
        while rest.last == " " || rest.last == "\t" { rest.removeLast() }
        return rest
    }
}
