// SPDX-License-Identifier: Apache-2.0

import Origins
import Primitives
import URLs

/// A fetch in the queue.
struct FetchTicket: Sendable {
    /// The slots that a fetch takes, besides one of the total and one of its client.
    struct Place: Hashable, Sendable {
        let origin: SourceURL.Origin
        /// Its rule, if that has its own bound.
        let rule: OriginRule?

        init(origin: SourceURL.Origin, rule: OriginRule? = nil) {
            self.origin = origin
            self.rule = rule?.maxConcurrent == nil ? nil : rule
        }
    }

    /// The fetch's id.
    let id: UInt64
    /// The slots that it needs.
    let place: Place
    /// The clients that wait for it, each once; nil stands for the daemon itself.
    var clients: [ClientID?]
    var priority: FetchPriority
    /// When it times out.
    var deadline: ContinuousClock.Instant
}
