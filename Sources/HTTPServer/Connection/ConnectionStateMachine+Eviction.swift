// SPDX-License-Identifier: Apache-2.0

/// Facts by which a loop chooses the connection that ends for another.
extension ConnectionStateMachine {
    /// Whether a connection can be ended without harm.
    enum Idleness {
        /// An answer is being made or sent.
        case busy
        /// All answers have been sent, and not all of them have reached the client's host.
        case unacknowledged
        /// It waits for a request, or for the rest of one, and all earlier answers have reached the client's host.
        case idle
    }

    /// Whether the connection can be ended for another.
    func idleness(_ driver: some ConnectionDriver) -> Idleness {
        guard isOutputEmpty else { return .busy }
        let waits =
            switch (phase, deadline.kind) {
            case (.readingHead, .idle), (.readingHead, .header), (.readingHead, .acknowledgement),
                (.readingHead, .lastRequest), (.readingContent, .body):
                true
            // It has its last answer, and has not ended its side.
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

    /// Whether it has its last answer, and only waits for the client's own end.
    var isLingering: Bool { phase == .closing && deadline.kind == .linger }
}
