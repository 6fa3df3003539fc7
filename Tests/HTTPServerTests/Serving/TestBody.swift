// SPDX-License-Identifier: Apache-2.0

import HTTPServer
import Synchronization
import TestSupport

/// A body to which a test adds piece by piece.
final class TestBody: HTTPBodyStream {
    private struct State {
        var steps: [HTTPBodyStep] = []
        var wake: (@Sendable () -> Void)?
        var asked = 0
    }

    private let state = Mutex(State())
    /// Opened when the body is released.
    let abandoned: Gate
    let replacement: HTTPResponse?

    init(_ steps: HTTPBodyStep..., abandoned: Gate = Gate(), replacement: HTTPResponse? = nil) {
        self.abandoned = abandoned
        self.replacement = replacement
        state.withLock { $0.steps = steps }
    }

    deinit { abandoned.open() }

    /// How often more has been requested.
    var asked: Int { state.withLock(\.asked) }

    func next(atMost count: Int, orWake wake: @escaping @Sendable () -> Void) -> HTTPBodyStep {
        state.withLock { state in
            state.asked += 1
            guard state.steps.isEmpty else { return state.steps.removeFirst() }
            state.wake = wake
            return .nothingYet
        }
    }

    /// Adds a step.
    func arrive(_ steps: HTTPBodyStep...) {
        let wake = state.withLock { state in
            state.steps += steps
            defer { state.wake = nil }
            return state.wake
        }
        wake?()
    }

    /// An answer with this body.
    func answer(length: Int? = nil) -> HTTPResponse {
        var response = HTTPResponse(status: .ok)
        response.body = .stream(self, length: length)
        response.context = 5
        return response
    }
}

extension HTTPBodyStep {
    /// A piece of text.
    static func text(_ text: String) -> HTTPBodyStep { .piece(.bytes(Array(text.utf8))) }
}
