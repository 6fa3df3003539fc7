// SPDX-License-Identifier: Apache-2.0

package import Bodies
package import Cache
package import Freshness

/// What a request for an image leads to.
package enum ImageAnswer: Sendable {
    case whole(ImageResponse)
    /// An image whose bytes go out while they are received from its origin.
    case streaming(StreamingImage)
}

/// An image that can be sent: its bytes, their description, and where they came from.
package struct ImageResponse: Sendable {
    /// What the bytes are.
    package var description: EntryDescription
    /// Freshness of the source they come from.
    package var record: SourceRecord
    /// The bytes.
    package var body: StoredBody
    /// The memory tier's entry, when the bytes are there.
    package var entry: MemoryEntry?
    /// Counts bytes that are in memory for answers alone; to be held until the answer is sent.
    package var lease: MemoryLease?
    /// Where the bytes came from.
    package var provenance: Provenance
    /// The status of the origin's answer, where the bytes were fetched.
    package var originStatus = 200
    /// Whether some tier holds the bytes now.
    package var isStored = false
    /// Whether the disk tier holds them in a way that survives a loss of power, as far as is known.
    var isDurable = false
    /// Whether this request was collapsed into another's.
    package var isCollapsed = false
    /// Whether a purge by the request's tags finds it.
    package var isTagged = true
    /// What was spent on making it; zero on hits.
    package var timings = Timings()

    /// Where an answer's bytes came from.
    package enum Provenance: Sendable, Hashable {
        /// The memory tier.
        case memory
        /// The disk tier, as they are.
        case disk
        /// The tier that nodes share, or the source's home among the nodes.
        case shared
        /// What is stored of a source: its record, its original, or what is rendered from that.
        case stored
        /// A stored copy that the origin confirmed (304), or a rendition of it.
        case revalidated(Forwarding)
        /// Fetched from the origin now.
        case fetched(Forwarding)
        /// A stored copy that is stale, or a rendition of one.
        case stale(Staleness)

        /// Whether it is a stale copy.
        var isStale: Bool {
            if case .stale = self { return true }
            return false
        }

        /// Sets why the request was forwarded to the origin, where it was: `fwd` of `Cache-Status` (RFC 9211 §2.2).
        mutating func setForwardReason(_ reason: Forwarding) {
            switch self {
            case .revalidated: self = .revalidated(reason)
            case .fetched: self = .fetched(reason)
            case .memory, .disk, .shared, .stored, .stale: return
            }
        }
    }

    /// Why a request was forwarded to the origin: `fwd` of `Cache-Status` (RFC 9211 §2.2).
    package enum Forwarding: Sendable, Hashable {
        /// Nothing was stored.
        case missing
        /// What was stored was stale.
        case stale
        /// What was stored was fresh, but the client wanted the origin's word.
        case request
    }

    /// Why a stale copy was served (RFC 9111 §4.2.4).
    package enum Staleness: Sendable, Hashable {
        /// It is being revalidated in the background (RFC 5861 §3).
        case whileRevalidating
        /// The client takes stale ones.
        case asClientAllows
        /// In place of an error (RFC 5861 §4); `wasAsked` is false where a remembered failure stood in for the origin's answer.
        case onError(PipelineError, wasAsked: Bool)
    }

    /// Durations in microseconds.
    package struct Timings: Sendable, Hashable {
        /// Waiting for a worker.
        package var queue = 0
        /// Fetching or revalidating.
        package var fetch = 0
        /// Decoding, transforming and encoding, as the worker measured.
        package var decode = 0, transform = 0, encode = 0
    }
}

extension ImageResponse.Provenance {
    /// - Parameters:
    ///   - reuse: how something stored may be used; not `forbidden`.
    ///   - fresh: where it is from, if it is fresh.
    init(_ reuse: FreshnessPolicy.Reuse, ofFresh fresh: Self) {
        switch reuse {
        case .fresh, .forbidden: self = fresh
        case .whileRevalidating: self = .stale(.whileRevalidating)
        case .asClientAllows: self = .stale(.asClientAllows)
        }
    }
}

extension ImageResponse {
    /// What was made, or found, of a source.
    /// - Parameter provenance: where it is from, if its source is stored and fresh; nil for where its source is from.
    init(
        of source: Source, _ description: EntryDescription, _ body: StoredBody,
        provenance: Provenance? = nil
    ) {
        let isFresh = source.provenance == .stored
        self.init(
            description: description, record: source.record, body: body,
            provenance: isFresh ? provenance ?? source.provenance : source.provenance)
        timings.fetch = source.fetchTime
        originStatus = source.status
    }

    /// A hit of the memory tier, fresh or permitted though stale.
    init(hit entry: MemoryEntry, provenance: Provenance) {
        self.init(
            description: entry.description, record: entry.record, body: entry.body, entry: entry,
            provenance: provenance)
        isStored = true
    }
}
