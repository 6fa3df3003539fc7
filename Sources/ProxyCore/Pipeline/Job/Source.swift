// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness

/// A source as one job knows it: what is recorded of it, its bytes where they are at hand, and where they came from.
struct Source: Sendable {
    var record: SourceRecord
    var body: StoredBody?
    /// The disk tier's file that the bytes are in.
    var file: DiskHit.CheckedFile?
    var provenance: ImageResponse.Provenance
    /// Microseconds spent on the origin.
    var fetchTime = 0
    /// The status that the origin answered with, where it was asked.
    var status = 200
    /// Where its bytes are stored.
    var stored = Stored(isAnywhere: true, isDurable: false)

    /// How far bytes are stored.
    struct Stored: Sendable, Hashable {
        /// In some tier.
        var isAnywhere: Bool
        /// On disk, in a way that survives a loss of power.
        var isDurable: Bool

        /// In no tier.
        static let nowhere = Stored(isAnywhere: false, isDurable: false)
    }

    init(record: SourceRecord, body: StoredBody? = nil, provenance: ImageResponse.Provenance) {
        self.record = record
        self.body = body
        self.provenance = provenance
    }

    /// A source by reference: a value of this size would be copied with each job.
    final class Given: Sendable {
        let source: Source

        init(_ source: Source) { self.source = source }
    }

    /// The same with bytes that a tier has.
    func with(_ found: ImageTiers.Found) -> Source {
        var copy = self
        (copy.body, copy.file) = (found.body, found.file)
        return copy
    }
}
