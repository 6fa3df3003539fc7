// SPDX-License-Identifier: Apache-2.0

/// What a client's request brings beside what is asked for: fields for the origin, and who asks.
///
/// It travels with the task, as trace contexts do: a fetch carries the context of the request that began it, those that
/// join it add nothing, and a refresh in the background has that of the request that found the copy stale, or none.
public struct FetchContext: Sendable, Hashable {
    /// The context of the current task.
    @TaskLocal public static var current = FetchContext()

    /// `traceparent` (W3C Trace Context).
    public let traceparent: String?
    /// The proxies that the request has come by, `CDN-Loop` (RFC 8586 §2) and `Via` (RFC 9110 §7.6.3); checked by
    /// `LoopGuard` before. We add ourselves.
    public let cdnLoop: String?, via: String?
    /// `tracestate`, only beside a `traceparent`.
    public let tracestate: String?
    /// Who asks, for turns in queues; nil for the daemon itself and for clients that can't be told apart.
    public let client: ClientID?

    /// Longest `tracestate` that is handed on, in bytes (Trace Context §3.3.1.5 asks for at least 512).
    private static let maxState = 1_024

    /// Takes what a request carries: a `traceparent` that is well-formed, and a `tracestate`, which is left out when it is
    /// not, as Trace Context §4.3 has it.
    public init(
        traceparent: String? = nil, tracestate: String? = nil, cdnLoop: String? = nil, via: String? = nil,
        client: ClientID? = nil
    ) {
        self.client = client
        self.cdnLoop = cdnLoop
        self.via = via
        self.traceparent = traceparent
        self.tracestate = traceparent == nil ? nil : tracestate.flatMap { Self.isState($0) ? $0 : nil }
    }

    /// Whether an origin may answer otherwise because of the way that the request has come, as the client tells it.
    var hasHistory: Bool { cdnLoop != nil || via != nil }

    /// The fields that a request to an origin gets.
    var fields: [OriginRequest.Field] {
        [
            traceparent.map { OriginRequest.Field(name: "traceparent", value: $0) },
            tracestate.map { OriginRequest.Field(name: "tracestate", value: $0) },
            cdnLoop.map { OriginRequest.Field(name: "CDN-Loop", value: $0) },
            via.map { OriginRequest.Field(name: "Via", value: $0) },
        ].compactMap { $0 }
    }

    private static func isState(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= maxState
            && text.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 }
    }
}
