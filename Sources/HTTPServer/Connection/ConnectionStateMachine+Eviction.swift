// SPDX-License-Identifier: Apache-2.0

/// The facts by which a loop chooses a connection to close in favour of another one.
extension ConnectionStateMachine {
    /// Whether a connection can be ended without harm.
    enum Idleness {
        /// An answer is being made or sent.
        case busy
        /// All answers have been sent, and not all of them have reached the client's host.
        case unacknowledged
        /// It waits for a request, or for the rest of one, and the client's host has received all earlier
        /// answers.
        case idle
    }

    /// Whether the connection can be closed in favour of another one.
    func idleness(_ driver: some ConnectionDriver) -> Idleness {
        guard isOutputEmpty else { return .busy }
        let waits =
            switch (phase, deadline.kind) {
            case (.readingHead, .idle), (.readingHead, .header), (.readingHead, .acknowledgement),
                (.readingHead, .lastRequest), (.readingContent, .body):
                true
            // The last answer has been sent, and the client has not half-closed.
            case (.closing, .linger), (.closing, .acknowledgement): true
            default: false
            }
        guard waits else { return .busy }
        return hasServed && unacknowledged(driver) > 0 ? .unacknowledged : .idle
    }

    /// Whether no answer is being made or sent.
    var mayBeEvicted: Bool {
        switch phase {
        case .readingHead, .readingContent, .closing: isOutputEmpty
        case .awaitingAnswer, .streaming, .closed: false
        }
    }

    /// Whether the last answer has been sent, and the connection only waits for the client's FIN.
    var isLingering: Bool { phase == .closing && deadline.kind == .linger }
}
