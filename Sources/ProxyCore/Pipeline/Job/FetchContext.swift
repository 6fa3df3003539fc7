// SPDX-License-Identifier: Apache-2.0

import Freshness
package import Primitives
package import Tracing

/// What the work for a client's request needs besides the image: fields for the origin, the client, the trace, and whether
/// other nodes may be asked.
///
/// A fetch has the context of the request that started it, and requests that join it add nothing. A background refresh has
/// only the client whose request found the copy stale, or nothing where memory answered that.
package struct FetchContext: Sendable {
    /// That of work which no request needs: it has no client, and asks no other node.
    package static let none = FetchContext()

    /// `traceparent` (W3C Trace Context), in a form without free text of the client.
    package let traceparent: String?
    /// The proxies that the request names as its path; nil if it names none.
    package let history: History?
    /// The client, for turns in queues; nil for the daemon itself and for clients that can't be
    /// distinguished.
    package let client: ClientID?
    /// Records whether the origin was asked, for `Cache-Status`; nil where no response reports it.
    package let forwarding: ForwardingRecord?
    /// The request's trace; nil where it is not traced.
    package let trace: Trace?
    /// Whether it prefetches: no client waits for the image, so it takes no place in memory from those that clients
    /// request.
    let isPrefetch: Bool

    /// The picture that the client sends with its request; nil where it names a URL.
    package var upload: Upload?

    /// What the client has requested, so that another node can get the same request; nil where none is to be.
    package let asked: ForwardedRequest?

    /// A request as another node reads it.
    package struct ForwardedRequest: Sendable {
        /// Path and query.
        package let target: String
        package let accept: String

        /// Combines the members.
        package init(target: String, accept: String) { (self.target, self.accept) = (target, accept) }
    }

    /// The proxies that a request names as its path; checked by `LoopGuard` before. The daemon adds itself.
    ///
    /// A client can write any text there, and an origin may answer differently because of it. Only requests
    /// with the same history share a fetch and its remembered failure, and what an origin answers to them removes no copies.
    package struct History: Sendable, Hashable {
        /// `CDN-Loop` (RFC 8586 §2).
        package let cdnLoop: String?
        /// `Via` (RFC 9110 §7.6.3).
        package let via: String?

        /// Both fields as text; neither value contains a line break.
        var text: String { "CDN-Loop: \(cdnLoop ?? "")\nVia: \(via ?? "")" }
    }

    /// Creates a context from a request's fields: a well-formed `traceparent`, and the request's path.
    package init(
        traceparent: String? = nil, cdnLoop: String? = nil, via: String? = nil, client: ClientID? = nil,
        forwarding: ForwardingRecord? = nil, trace: Trace? = nil, isPrefetch: Bool = false,
        asked: ForwardedRequest? = nil
    ) {
        self.asked = asked
        self.trace = trace
        self.isPrefetch = isPrefetch
        self.forwarding = forwarding
        self.client = client
        self.traceparent = traceparent
        history = cdnLoop == nil && via == nil ? nil : History(cdnLoop: cdnLoop, via: via)
    }

    /// The context of work that the request starts, but that other clients wait for.
    var ofBackgroundWork: FetchContext {
        var context = FetchContext(client: client)
        context.upload = upload
        return context
    }

    /// The fields for the request to an origin.
    /// - Parameter part: the part of the trace that the request to the origin is.
    func fields(_ part: Trace.Part? = nil) -> [HeaderField] {
        [
            (part?.traceparent ?? traceparent).map { HeaderField(name: "traceparent", value: $0) },
            history?.cdnLoop.map { HeaderField(name: "CDN-Loop", value: $0) },
            history?.via.map { HeaderField(name: "Via", value: $0) },
        ].compactMap { $0 }
    }
}
