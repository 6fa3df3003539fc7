// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness
import Primitives
import Request

/// A source as one flight knows it: what is recorded of it, its bytes where they are at hand, and where they came from.
struct Source: Sendable {
    var record: SourceRecord
    var body: StoredBody?
    /// The disk tier's answer, where the bytes are from there.
    var hit: DiskHit?
    var provenance: ImageResponse.Provenance
    /// Microseconds spent on the origin.
    var fetchTime = 0
    /// The status that the origin answered with, where it was asked.
    var status = 200
    /// Where its bytes are kept.
    var kept = Kept(isStored: true, isDurable: false)

    /// How far bytes are kept.
    struct Kept: Sendable, Hashable {
        /// In some tier.
        var isStored: Bool
        /// On disk, in a way that survives a loss of power.
        var isDurable: Bool

        /// Nowhere.
        static let nowhere = Kept(isStored: false, isDurable: false)
    }

    init(record: SourceRecord, body: StoredBody? = nil, provenance: ImageResponse.Provenance) {
        self.record = record
        self.body = body
        self.provenance = provenance
    }

    func with(_ found: ImageTiers.Found) -> Source {
        var copy = self
        (copy.body, copy.hit) = (found.body, found.hit)
        return copy
    }
}

/// A source as a refresh has just fetched it: its result is made from that, however short its lifetime.
struct FetchedSource: Sendable {
    let source: Source
    /// Taken before the fetch.
    let permit: PurgeLedger.Permit
}

/// Names a fetch under way.
struct FetchKey: Hashable, Sendable {
    let source: CacheKey
    /// Whether validators are sent, so that the origin may answer without a body.
    let isConditional: Bool
    /// How far what arrives may be kept; a client can say so for its own request.
    let keeping: Keeping
    /// The proxies that the origin is told of, by the task that makes the key.
    var history = FetchContext.current.history
}

/// How far what is fetched or made may be kept, beside what the configuration and the origin say.
enum Keeping: Hashable, Sendable {
    /// Nowhere.
    case nothing
    /// In memory.
    case memory
    /// On disk, too.
    case disk
    /// On disk, and answered once it would survive a loss of power.
    case durable

    /// Whether it may be written to disk.
    var usesDisk: Bool { self == .disk || self == .durable }
}

extension RequestDirectives {
    /// How far what is fetched or made for this client may be kept.
    var keeping: Keeping {
        if noStore { return .nothing }
        if memoryOnly { return .memory }
        return waitsForStore ? .durable : .disk
    }
}

extension RenderingKey {
    /// Names the making of a request's result.
    init(_ request: ImageRequest, asking client: RequestDirectives) {
        self.init(
            result: request.resultKey, source: request.sourceKey, client: client, workLimit: request.workLimit
        )
    }
}

/// Names a result being made. Clients that ask different things of the cache do not share the making.
struct RenderingKey: Hashable, Sendable {
    let result: CacheKey
    let source: CacheKey
    let client: RequestDirectives
    /// The most work that it may be: a client that may ask for more does not share a refusal.
    let workLimit: Int?
    /// The proxies that the origin is told of if it is asked, by the task that makes the key.
    var history = FetchContext.current.history
    /// Names the one request that it is made for, where nobody else may have it.
    var loner: UInt64?
}
