// SPDX-License-Identifier: Apache-2.0

/// The result of a request's conditions, for a representation that exists (RFC 9110 §13).
public enum Precondition: Sendable, Hashable {
    /// The method is performed.
    case proceed
    /// 304: the client's copy is still valid.
    case notModified
    /// 412: the representation is not the one that the client requires.
    case preconditionFailed

    /// Parses an HTTP date as seconds since 1970; nil for anything else.
    public typealias DateReader = (UnsafeRawBufferPointer) -> Int64?

    /// Hot path: evaluates all conditions but `If-Range`, in the order of RFC 9110 §13.2.2.
    ///
    /// Without conditions this costs a few bit tests.
    /// - Parameters:
    ///   - request: the request with the conditions.
    ///   - etag: the tag of the representation that would be sent, if it has one.
    ///   - lastModified: when it was last modified, in seconds since 1970, if that is known.
    ///   - date: parses a date of a field; nil for an invalid one.
    public static func evaluate(
        _ request: HTTPRequest, etag: EntityTag?, lastModified: Int64?, date: DateReader
    ) -> Precondition {
        if let matches = EntityTagList.matches(request, .ifMatch, etag, by: .strong) {
            guard matches else { return .preconditionFailed }
        } else if let limit = unsafe singleDate(request, .ifUnmodifiedSince, date), let lastModified {
            guard lastModified <= limit else { return .preconditionFailed }
        }
        let isRetrieval = request.method == .get || request.method == .head
        if let matches = EntityTagList.matches(request, .ifNoneMatch, etag, by: .weak) {
            guard matches else { return .proceed }
            return isRetrieval ? .notModified : .preconditionFailed
        }
        guard isRetrieval, let since = unsafe singleDate(request, .ifModifiedSince, date), let lastModified
        else { return .proceed }
        return lastModified <= since ? .notModified : .proceed
    }

    /// Whether `Range` counts: without `If-Range`, or if that matches the present representation (RFC 9110
    /// §13.1.5).
    ///
    /// A tag must match strongly; a date must equal the last modification, which must be a strong validator
    /// (RFC 9110 §8.8.2.2); only the caller can know that.
    public static func allowsRange(
        _ request: HTTPRequest, etag: EntityTag?, lastModified: Int64?, isLastModifiedStrong: Bool,
        date: DateReader
    ) -> Bool {
        guard request.has(known: .ifRange) else { return true }
        guard !request.repeats(.ifRange) else { return false }
        let names = unsafe request.withFirstValue(ofKnown: .ifRange) { value in
            let pointer = unsafe value.assumingMemoryBound(to: UInt8.self)
            let octets = unsafe pointer.span
            if let (_, end) = EntityTag.read(octets, from: 0) {
                return end == octets.count && EntityTagList.line(octets, names: etag, by: .strong)
            }
            guard isLastModifiedStrong, let lastModified else { return false }
            return unsafe date(value) == lastModified
        }
        return names ?? false
    }

    /// The field's date; nil without one, on several lines, and for an invalid date: the field is ignored
    /// then.
    private static func singleDate(_ request: HTTPRequest, _ field: KnownField, _ date: DateReader) -> Int64?
    {
        guard request.has(known: field), !request.repeats(field) else { return nil }
        return unsafe request.withFirstValue(ofKnown: field) { unsafe date($0) } ?? nil
    }
}
