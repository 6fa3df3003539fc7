// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// Identifies one entry of the disk tier: a key may have one of each kind.
package struct EntryID: Hashable, Sendable {
    package let kind: EntryKind
    package let key: CacheKey

    /// 64 uniformly distributed bits: the low half of the key, distinguished by kind.
    var fingerprint: UInt64 { key.low ^ UInt64(kind.rawValue) }

    // swift-format-ignore: NoLeadingUnderscores
    /// Hot path: the hash for tables, as a `CacheKey` has it: 26 ns less for each of a disk hit's look-ups.
    package func _rawHashValue(seed: Int) -> Int {
        Int(
            truncatingIfNeeded: TableHash.fold(
                fingerprint ^ UInt64(truncatingIfNeeded: seed), TableHash.secret))
    }
}
