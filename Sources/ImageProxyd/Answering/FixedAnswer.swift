// SPDX-License-Identifier: Apache-2.0

import Bodies
package import HTTPServer

/// An answer whose bytes stay the same, with their tag.
package struct FixedAnswer: Sendable {
    private let whole: HTTPResponse
    private let notModified: HTTPResponse
    private let tag: EntityTag?

    /// - Parameters:
    ///   - type: the media type.
    ///   - fields: further lines of the whole answer.
    package init(
        _ bytes: [UInt8], type: String, cacheControl: String, fields: HTTPFields = HTTPFields()
    ) {
        let tag = EntityTag(opaque: ContentHash(of: bytes).shortHexOctets)
        var notModified = HTTPResponse(status: .notModified)
        notModified.fields.append(.cacheControl, text: cacheControl)
        if let tag { notModified.fields.append(.etag, tag.fieldValue) }
        var whole = notModified
        whole.status = .ok
        whole.fields.append(.contentType, text: type)
        whole.fields.append(.contentTypeOptions, text: "nosniff")
        whole.fields.append(fields)
        whole.body = .bytes(bytes)
        self.whole = whole
        self.notModified = notModified
        self.tag = tag
    }

    /// The answer to a request, by its conditions (RFC 9110 §13.2.2).
    package func answer(to request: HTTPRequest, as context: ExchangeContext) -> HTTPResponse {
        // It has no modification date, so no date is read.
        let outcome = unsafe Precondition.evaluate(request, etag: tag, lastModified: nil, date: { _ in nil })
        guard outcome != .preconditionFailed else { return ResponseMapping.failedPrecondition(context) }
        var response = outcome == .proceed ? whole : notModified
        response.context = context.packed
        return response
    }
}
