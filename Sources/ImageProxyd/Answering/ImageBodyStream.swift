// SPDX-License-Identifier: Apache-2.0

import HTTPServer
import Pipeline
import Synchronization

/// The bytes of an image that is being received, as the server sends them.
final class ImageBodyStream: HTTPBodyStream {
    private let body: BodyReader
    /// Nil once bytes were given out: it holds the handler, and with that the settings and tables of before a reload.
    private let problem: Mutex<Problem?>

    private struct Problem {
        let answer: @Sendable (PipelineError) -> HTTPResponse
    }

    /// - Parameter problem: the answer to a failure before anything was sent.
    init(_ body: BodyReader, orElse problem: @escaping @Sendable (PipelineError) -> HTTPResponse) {
        self.body = body
        self.problem = Mutex(Problem(answer: problem))
    }

    var replacement: HTTPResponse? {
        guard let failure = body.failure else { return nil }
        return problem.withLock { $0 }?.answer(failure)
    }

    func next(atMost count: Int, orWake wake: @escaping @Sendable () -> Void) -> HTTPBodyStep {
        switch body.next(atMost: count, orWake: wake) {
        case .piece(let piece):
            problem.withLock { $0 = nil }
            return .piece(HTTPBody(piece))
        case .nothingYet: return .nothingYet
        case .end: return .end
        case .broken: return .broken
        }
    }
}
