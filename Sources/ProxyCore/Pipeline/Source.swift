// SPDX-License-Identifier: Apache-2.0

/// A source as one flight knows it: what is recorded of it, its bytes where they are at hand, and where they came from.
struct Source: Sendable {
    var record: SourceRecord
    var body: StoredBody?
    var provenance: ImageResponse.Provenance
    /// Microseconds spent on the origin.
    var fetchTime = 0

    init(record: SourceRecord, body: StoredBody? = nil, provenance: ImageResponse.Provenance) {
        self.record = record
        self.body = body
        self.provenance = provenance
    }

    func with(body: StoredBody) -> Source {
        var copy = self
        copy.body = body
        return copy
    }
}

/// Names a fetch under way.
struct FetchKey: Hashable, Sendable {
    let source: CacheKey
    /// Whether validators are sent, so that the origin may answer without a body.
    let isConditional: Bool
    /// Whether what arrives may be kept; a client can forbid that for its own request.
    let mayStore: Bool
}

/// Names a result being made. Clients that ask different things of the cache do not share the making.
struct RenderingKey: Hashable, Sendable {
    let result: CacheKey
    let client: RequestDirectives
}
