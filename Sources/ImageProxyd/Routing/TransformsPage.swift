// SPDX-License-Identifier: Apache-2.0

import Answering
internal import HTTPServer
import Imaging
import Observability
import Primitives

/// The answer to `/transforms`: every operation with its parameters, from their declarations.
enum TransformsPage {
    private static let page = FixedAnswer(
        Array((text + "\n").utf8), type: "application/json", cacheControl: "public, max-age=300")

    /// The answer to a request, by its conditions (RFC 9110 §13.2.2).
    static func answer(_ request: HTTPRequest) -> HTTPResponse {
        page.answer(to: request, as: ExchangeContext(.transforms))
    }

    /// The operations as a JSON object.
    static let text = (["operations": TransformPipeline.catalogue] as JSONValue).compact
}
