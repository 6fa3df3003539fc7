// SPDX-License-Identifier: Apache-2.0

/// A fetch's place in the queue.
struct FetchTicket: Sendable {
    /// Which slots a fetch takes beside the one in all.
    struct Place: Hashable, Sendable {
        /// Whom it asks.
        let origin: SourceURL.Origin
        /// Its rule, if that has a bound of its own.
        let rule: OriginRule?
        /// The client that it counts for; nil for the daemon itself.
        var client: ClientID?

        init(origin: SourceURL.Origin, rule: OriginRule? = nil, client: ClientID? = nil) {
            self.origin = origin
            self.rule = rule?.maxConcurrent == nil ? nil : rule
            self.client = client
        }
    }

    /// The fetch.
    let id: UInt64
    /// Which slots it needs.
    var place: Place
    /// How urgent it is.
    var priority: FetchPriority
    /// When it gives up.
    let deadline: ContinuousClock.Instant
}
