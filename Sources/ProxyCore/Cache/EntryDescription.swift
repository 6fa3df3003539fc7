// SPDX-License-Identifier: Apache-2.0

package import Bodies
package import Imaging
package import Primitives

/// The kinds of stored bytes.
package enum EntryKind: UInt8, Sendable, Hashable, CaseIterable {
    /// Bytes as the origin sent them, or in the format that a rule's `storeAs` names. An untransformed picture has them, too.
    case original = 1
    /// Bytes made from an original by a plan.
    case result = 2
    /// A smaller version of an original, from which further results are made.
    case intermediate = 3
    /// Bytes made from an intermediate, stored or of the same decoding: they differ from those of a result with the same key.
    /// One that is improved stays one, whatever the better bytes are made from.
    case derived = 4

    /// Whether a plan made it for clients. They are sent originals, too, as untransformed pictures.
    package var isResult: Bool { self == .result || self == .derived }

    /// Those that a plan made for clients, in the order in which they are looked for.
    package static let results: [EntryKind] = [.result, .derived]
}

/// How a result was made, and so whether a better one replaces it. Stored; the numbers never change.
package enum ResultStage: UInt8, Sendable, Hashable {
    /// With full effort, or by an encoder that has only one.
    case final = 0
    /// With the fast effort: it is improved when it is requested again.
    case fast = 1
    /// With the fast effort, and final: full effort made it no smaller, or is too much work.
    case kept = 2
    /// In the cheapest format that the client accepts, because many jobs waited: it is improved when workers
    /// have time, or remade when it is requested after `cheapestLifetime`.
    case cheapest = 3

    /// Whether a better result is to replace it.
    package var isImprovable: Bool { self == .fast || self == .cheapest }

    /// Seconds for which a result in the cheapest format is used.
    @usableFromInline static let cheapestLifetime: Int64 = 600
}

/// The description of an entry's bytes, in memory and in the disk file's header alike.
package struct EntryDescription: Sendable, Hashable {
    package var kind: EntryKind
    /// The entry's key. An original has its source's, on disk and where `cache.originals` stores it in memory; once it has
    /// answered a request, memory may have it as the untransformed result, too, under the result's.
    package var key: CacheKey
    /// The canonical text behind `key`, compared on every disk look-up.
    package var keyText: String
    /// The key of the source it was made from (its own for an original).
    package var sourceKey: CacheKey
    /// The SHA-256 of the source's bytes it was made from (its own for an original).
    package var sourceHash: ContentHash
    /// The SHA-256 of its own bytes.
    package var contentHash: ContentHash
    /// The format of its bytes.
    package var format: ImageFormat
    /// Width in pixels of one frame; 0 where it is unknown. For an intermediate that of the upright original.
    package var width: Int
    /// Height in pixels of one frame; 0 where it is unknown.
    package var height: Int
    /// When it was stored, in seconds since 1970.
    package var storedAt: Int64
    /// How it was made.
    package var stage = ResultStage.final

    /// Hot path: false once a result in the cheapest format is older than its lifetime.
    @inlinable
    package func isUsable(at now: Int64) -> Bool {
        stage != .cheapest || (0..<ResultStage.cheapestLifetime).contains(now - storedAt)
    }

    /// Gives the same bytes another key, with the text behind it.
    package mutating func name(_ key: CacheKey, _ text: String) {
        (self.key, keyText) = (key, text)
    }

    /// Creates a description from its members.
    package init(
        kind: EntryKind, key: CacheKey, keyText: String, sourceKey: CacheKey, sourceHash: ContentHash,
        contentHash: ContentHash, format: ImageFormat, width: Int = 0, height: Int = 0, storedAt: Int64,
        stage: ResultStage = .final
    ) {
        self.kind = kind
        self.key = key
        self.keyText = keyText
        self.sourceKey = sourceKey
        self.sourceHash = sourceHash
        self.contentHash = contentHash
        self.format = format
        self.width = width
        self.height = height
        self.storedAt = storedAt
        self.stage = stage
    }
}
