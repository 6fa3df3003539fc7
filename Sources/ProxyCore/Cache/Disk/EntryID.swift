// SPDX-License-Identifier: Apache-2.0

/// Names one entry of the disk tier: a key may have one of each kind.
struct EntryID: Hashable, Sendable {
    /// The kind.
    let kind: EntryKind
    /// The key.
    let key: CacheKey

    /// 64 uniformly distributed bits, never 0: the low half of the key, set apart by kind.
    var fingerprint: UInt64 {
        let bits = key.low ^ (UInt64(kind.rawValue) << 63 | UInt64(kind.rawValue))
        return bits == 0 ? 1 : bits
    }

    // swift-format-ignore: NoLeadingUnderscores
    /// Hot path: what tables ask for, as a `CacheKey` answers it.
    func _rawHashValue(seed: Int) -> Int {
        Int(
            truncatingIfNeeded: TableHash.fold(
                fingerprint ^ UInt64(truncatingIfNeeded: seed), TableHash.secret))
    }
}
