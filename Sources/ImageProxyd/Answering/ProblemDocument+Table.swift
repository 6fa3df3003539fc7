// SPDX-License-Identifier: Apache-2.0

/// The problems of the daemon's own interface; those of pictures are in `PipelineError`'s table.
extension ProblemDocument {
    // MARK: - Requests

    package static let notFound = ProblemDocument(404, "not_found", "There is nothing at this path")
    package static let methodNotAllowed = ProblemDocument(
        405, "method_not_allowed", "The method is not allowed here")
    static let preconditionFailed = ProblemDocument(
        412, "precondition_failed", "What is here is not what the request means")
    static let rangeNotSatisfiable = ProblemDocument(
        416, "range_not_satisfiable", "The image has no such bytes")
    package static let invalidContent = ProblemDocument(400, "invalid_content", "The content can't be used")
    package static let contentTooLarge = ProblemDocument(413, "content_too_large", "The content is too long")

    // MARK: - The admin listener

    package static let unauthorized = ProblemDocument(
        401, "unauthorized", "The admin token is missing or wrong")
    package static let otherSite = ProblemDocument(
        403, "other_site", "A page of another site sent this request")
    package static let wrongHost = ProblemDocument(
        403, "host_forbidden", "The admin listener must be requested by its address")
    package static let noKey = ProblemDocument(409, "no_key", "There is no key to sign with")
    package static let cacheFailed = ProblemDocument(503, "cache_failed", "The disk tier could not do it")
    package static let tooManyStreams = ProblemDocument(
        503, "too_many_streams", "No further stream of events can be opened")

    // MARK: - Prefetching

    package static let noSuchOrder = ProblemDocument(
        404, "no_such_order", "There is no such prefetch order, or no longer")
    package static let orderClosed = ProblemDocument(
        409, "order_closed", "The prefetch order takes no further sources")
    package static let shuttingDown = ProblemDocument(503, "shutting_down", "The daemon ends")

    private init(_ status: Int, _ code: String, _ title: String) {
        self.init(status: status, code: code, title: title)
    }

    /// The same with one sentence about this very request.
    package func explained(_ detail: String) -> ProblemDocument {
        var document = self
        document.detail = detail
        return document
    }
}
