// SPDX-License-Identifier: Apache-2.0

import Origins
import Primitives
import URLs

/// A fetch in the queue.
struct FetchTicket: Sendable {
    /// The slots that a fetch takes, besides one of the total.
    struct Place: Hashable, Sendable {
        /// The origin that it fetches from.
        let origin: SourceURL.Origin
        /// Its rule, if that has its own bound.
        let rule: OriginRule?
        /// The client that the fetch counts for; nil for the daemon itself.
        var client: ClientID?

        init(origin: SourceURL.Origin, rule: OriginRule? = nil, client: ClientID? = nil) {
            self.origin = origin
            self.rule = rule?.maxConcurrent == nil ? nil : rule
            self.client = client
        }
    }

    /// The fetch's id.
    let id: UInt64
    /// The slots that it needs.
    var place: Place
    /// Its priority.
    var priority: FetchPriority
    /// When it times out.
    let deadline: ContinuousClock.Instant
}
