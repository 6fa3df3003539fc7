// SPDX-License-Identifier: Apache-2.0

import Answering
internal import HTTPServer
import Observability
import Primitives

/// An answer of the admin listener.
enum AdminAnswer {
    /// A JSON object, not to be stored.
    static func json(_ object: JSONValue) -> HTTPResponse {
        var response = HTTPResponse(status: .ok)
        response.fields.append(.contentType, text: "application/json")
        response.fields.append(.cacheControl, text: "no-store")
        response.fields.append(.contentTypeOptions, text: "nosniff")
        response.body = .bytes(Array((object.compact + "\n").utf8))
        response.context = ExchangeContext(.admin).packed
        return response
    }
}
