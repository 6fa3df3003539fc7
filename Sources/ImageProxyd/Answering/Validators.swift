// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import ProxyCore

/// What a representation is recognised by (RFC 9110 §8.8), prepared once for all requests that ask about it.
struct Validators: Sendable {
    /// The strong tag of the bytes.
    let entityTag: EntityTag?
    /// The origin's `Last-Modified`, in seconds since 1970.
    let lastModified: Int64?
    /// Whether that date can stand for the bytes: old enough that they cannot have changed within its second unseen.
    let isLastModifiedStrong: Bool

    /// How much older than the answer a date has to be to be strong, in seconds (RFC 9110 §8.8.2.2).
    private static let strongAge: Int64 = 60

    /// - Parameters:
    ///   - hash: of all bytes; nil while they are not all there.
    ///   - mayDateBeStrong: whether the bytes are the origin's own: results of one source may differ under one date.
    init(_ hash: ContentHash?, _ record: SourceRecord, mayDateBeStrong: Bool = true) {
        entityTag = hash.flatMap { EntityTag(opaque: $0.shortHexOctets) }
        lastModified = record.modified?.seconds
        isLastModifiedStrong =
            mayDateBeStrong && lastModified.map { record.responseTime - $0 >= Self.strongAge } ?? false
    }

    /// Hot path: what the request's conditions come to; without any, a few bit tests.
    func evaluate(_ request: HTTPRequest, at now: Int64) -> Precondition {
        unsafe Precondition.evaluate(request, etag: entityTag, lastModified: lastModified) { value in
            unsafe HTTPDate(String(decoding: value, as: UTF8.self), now: now)?.seconds
        }
    }

    /// What of `length` bytes the request asks for; all of them unless it has a range that counts (RFC 9110 §14.2).
    func selection(of length: Int64, for request: HTTPRequest, at now: Int64) -> RangeRequest.Selection {
        guard request.has(.range) else { return .whole }
        let counts = unsafe Precondition.allowsRange(
            request, etag: entityTag, lastModified: lastModified, isLastModifiedStrong: isLastModifiedStrong
        ) { value in
            unsafe HTTPDate(String(decoding: value, as: UTF8.self), now: now)?.seconds
        }
        guard counts, let range = RangeRequest(request) else { return .whole }
        return range.selection(of: length)
    }
}
