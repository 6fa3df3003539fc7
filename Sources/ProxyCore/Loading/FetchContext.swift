// SPDX-License-Identifier: Apache-2.0

/// What a client's request brings beside what is asked for: fields for the origin, and who asks.
///
/// It travels with the task, as trace contexts do: a fetch carries the context of the request that began it, and those
/// that join it add nothing. A refresh in the background carries the client alone.
public struct FetchContext: Sendable, Hashable {
    /// The context of the current task.
    @TaskLocal public static var current = FetchContext()

    /// `traceparent` (W3C Trace Context): of a form that leaves a client no text of its own.
    public let traceparent: String?
    /// The proxies that the request says it has come by; nil where it names none.
    public let history: History?
    /// Who asks, for turns in queues; nil for the daemon itself and for clients that can't be told apart.
    public let client: ClientID?
    /// Where it is noted whether the origin was asked; nil where no client is told.
    public let forwarding: ForwardingRecord?

    /// The proxies that a request says it has come by; checked by `LoopGuard` before. The daemon adds itself.
    ///
    /// A client writes there what it wants, and an origin may answer otherwise because of it. So only requests with the
    /// same history share a fetch, and what is remembered of its failure.
    public struct History: Sendable, Hashable {
        /// `CDN-Loop` (RFC 8586 §2).
        public let cdnLoop: String?
        /// `Via` (RFC 9110 §7.6.3).
        public let via: String?

        /// All of it; neither field's value holds a line break.
        var text: String { "CDN-Loop: \(cdnLoop ?? "")\nVia: \(via ?? "")" }
    }

    /// Takes what a request carries: a `traceparent` that is well-formed, and the way that it has come.
    public init(
        traceparent: String? = nil, cdnLoop: String? = nil, via: String? = nil, client: ClientID? = nil,
        forwarding: ForwardingRecord? = nil
    ) {
        self.forwarding = forwarding
        self.client = client
        self.traceparent = traceparent
        history = cdnLoop == nil && via == nil ? nil : History(cdnLoop: cdnLoop, via: via)
    }

    /// The context of work that the request causes, and that others than its client wait for.
    var ofBackgroundWork: FetchContext { FetchContext(client: client) }

    /// The fields that a request to an origin gets.
    var fields: [OriginRequest.Field] {
        [
            traceparent.map { OriginRequest.Field(name: "traceparent", value: $0) },
            history?.cdnLoop.map { OriginRequest.Field(name: "CDN-Loop", value: $0) },
            history?.via.map { OriginRequest.Field(name: "Via", value: $0) },
        ].compactMap { $0 }
    }
}
