// SPDX-License-Identifier: Apache-2.0

import HTTPServer
import Pipeline

/// The bytes of an image that is being received, as the server sends them.
final class ImageBodyStream: HTTPBodyStream {
    private let body: BodyReader
    private let problem: @Sendable (PipelineError) -> HTTPResponse

    /// - Parameter problem: the answer to a failure before anything was sent.
    init(_ body: BodyReader, orElse problem: @escaping @Sendable (PipelineError) -> HTTPResponse) {
        self.body = body
        self.problem = problem
    }

    var replacement: HTTPResponse? { body.failure.map(problem) }

    func next(atMost count: Int, orWake wake: @escaping @Sendable () -> Void) -> HTTPBodyStep {
        switch body.next(atMost: count, orWake: wake) {
        case .piece(let piece): .piece(HTTPBody(piece))
        case .nothingYet: .nothingYet
        case .end: .end
        case .broken: .broken
        }
    }
}
