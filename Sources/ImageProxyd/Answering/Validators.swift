// SPDX-License-Identifier: Apache-2.0

import Bodies
import Freshness
import HTTPServer
import Primitives

/// The validators of a representation (RFC 9110 §8.8), prepared once for all conditional requests.
struct Validators: Sendable {
    /// The strong tag of the bytes.
    let entityTag: EntityTag?
    /// The origin's `Last-Modified`, in seconds since 1970; nil for a result.
    let lastModified: Int64?
    /// Whether that date is a strong validator: old enough that the bytes can't have changed within its
    /// second.
    let isLastModifiedStrong: Bool

    /// How much older than the answer a date must be to be strong, in seconds (RFC 9110 §8.8.2.2).
    private static let strongAge: Int64 = 60

    /// - Parameters:
    ///   - hash: of all bytes; nil while they are not all known.
    ///   - isResult: whether the bytes were made here. Their source's date says nothing of them: other settings make other bytes
    ///     of it, and a date of their own could be later than `Date`, which is the origin's (RFC 9110 §8.8.2.1).
    init(_ hash: ContentHash?, _ record: SourceRecord, isResult: Bool = false) {
        entityTag = hash.flatMap { EntityTag(opaque: $0.shortHexOctets) }
        lastModified = isResult ? nil : record.modified?.seconds
        isLastModifiedStrong =
            lastModified.map { record.reuse.responseTime.seconds - $0 >= Self.strongAge } ?? false
    }

    /// Those of a text that is made for each answer: only its bytes say whether it has changed.
    init(tagging text: [UInt8]) {
        entityTag = EntityTag(opaque: ContentHash(of: text).shortHexOctets)
        (lastModified, isLastModifiedStrong) = (nil, false)
    }

    /// Those of a text that is always the same for the same picture.
    init(taggingTextOf hash: ContentHash) {
        entityTag = EntityTag(opaque: hash.shortHexOctets)
        (lastModified, isLastModifiedStrong) = (nil, false)
    }

    /// Hot path: evaluates the request's conditions; without any, a few bit tests.
    func evaluate(_ request: HTTPRequest, at now: Int64) -> Precondition {
        unsafe Precondition.evaluate(request, etag: entityTag, lastModified: lastModified) { value in
            unsafe HTTPDate(String(decoding: value, as: UTF8.self), now: now)?.seconds
        }
    }

    /// The part of `length` bytes that the request selects; all of them unless it has a range that counts
    /// (RFC 9110 §14.2).
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
