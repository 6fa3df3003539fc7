// SPDX-License-Identifier: Apache-2.0

import Dialects
import HTTPServer
import Observability
package import Pipeline
import Primitives
package import Request
import URLs

/// Reading a target without a request, for operators.
extension ImageHandler {
    /// What a target means to a client that sends this `Accept`, and nothing of its screen.
    package func read(_ target: [UInt8], accept: String) throws(PipelineError) -> ImageRequest {
        try parse(target, by: parser, ratio: nil) { AcceptClass(accept: accept, candidates: automatic) }
    }

    /// A source as it is, as if the request for it were signed.
    package func read(source: String) throws(PipelineError) -> ImageRequest {
        let query = QueryString(items: [QueryItem(name: "url", value: source)])
        do throws(ImageRequestError) {
            return try parser.parse(translated: query, isSigned: true, at: clock().seconds) { AcceptClass() }
        } catch {
            throw PipelineError(error)
        }
    }
}
