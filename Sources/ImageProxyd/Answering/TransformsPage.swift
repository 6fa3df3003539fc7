// SPDX-License-Identifier: Apache-2.0

import Bodies
internal import HTTPServer
import Imaging
import Observability
import Primitives

/// The answer to `/transforms`: every operation with its parameters, from their declarations.
enum TransformsPage {
    private static let lifetime = "public, max-age=300"

    /// The whole answer and its tag; constant while the process runs.
    private static let page: (response: HTTPResponse, tag: EntityTag?) = {
        let bytes = Array((text + "\n").utf8)
        let tag = EntityTag(opaque: ContentHash(of: bytes).shortHexOctets)
        var response = HTTPResponse(status: .ok)
        response.fields.append(.contentType, text: "application/json")
        response.fields.append(.cacheControl, text: lifetime)
        response.fields.append(.contentTypeOptions, text: "nosniff")
        if let tag { response.fields.append(.etag, tag.fieldValue) }
        response.body = .bytes(bytes)
        response.context = ExchangeContext(.transforms).packed
        return (response, tag)
    }()

    /// The answer to a request, by its conditions (RFC 9110 §13.2.2).
    static func answer(_ request: HTTPRequest) -> HTTPResponse {
        // It has no modification date, so no date is read.
        switch unsafe Precondition.evaluate(request, etag: page.tag, lastModified: nil, date: { _ in nil }) {
        case .proceed: return page.response
        case .notModified:
            var response = HTTPResponse(status: .notModified)
            response.fields.append(.cacheControl, text: lifetime)
            if let tag = page.tag { response.fields.append(.etag, tag.fieldValue) }
            response.context = ExchangeContext(.transforms).packed
            return response
        case .preconditionFailed: return ResponseMapping.failedPrecondition(ExchangeContext(.transforms))
        }
    }

    /// The operations as a JSON object.
    static let text = (["operations": .array(TransformPipeline.catalogue.map(\.json))] as JSONValue).compact
}
