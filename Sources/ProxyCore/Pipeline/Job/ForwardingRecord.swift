// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Whether one client's request was forwarded to the origin, so that its failure can say so, too (RFC 9211).
///
/// Travels in `FetchContext`; the pipeline writes it, the answer to the client reads it. Safe from any task.
package final class ForwardingRecord: Sendable {
    /// What became of the request so far.
    package enum Outcome: Sendable, Hashable {
        /// A failure that is remembered stood in for the origin's answer.
        case remembered
        /// The origin was asked; `status` is that of its answer, where there was one.
        case asked(ImageResponse.Forwarding, status: Int?, isCollapsed: Bool)
    }

    /// How the origin was reached, for the log.
    package struct Way: Sendable, Hashable {
        /// Redirects that were followed.
        package var redirects = 0
        /// The families of the addresses that new connections were tried to; none where one was reused.
        package var families: AddressFamilies = []

        /// Nothing is known.
        package init() {}

        init(redirects: Int, families: AddressFamilies) {
            (self.redirects, self.families) = (redirects, families)
        }
    }

    private let state = Mutex((outcome: Outcome?.none, way: Way()))

    /// Nothing is known yet.
    package init() {}

    /// What became of the request; nil where neither a failure was remembered nor the origin asked.
    package var outcome: Outcome? { state.withLock { $0.outcome } }

    /// How the origin was reached for this request; nothing where it joined another's fetch.
    package var way: Way { state.withLock { $0.way } }

    func note(_ way: Way) {
        state.withLock { $0.way = way }
    }

    func note(_ outcome: Outcome) {
        state.withLock { $0.outcome = outcome }
    }

    /// Sets why the request was forwarded, where it was.
    func setReason(_ reason: ImageResponse.Forwarding) {
        guard case .asked(_, let status, let isCollapsed) = outcome else { return }
        note(.asked(reason, status: status, isCollapsed: isCollapsed))
    }

    /// Takes over what became of the request whose work this one has joined.
    func join(_ other: ForwardingRecord?) {
        switch other?.outcome {
        case nil: return
        case .remembered: note(.remembered)
        case .asked(let reason, let status, _): note(.asked(reason, status: status, isCollapsed: true))
        }
    }
}
