// SPDX-License-Identifier: Apache-2.0

/// What hash tables of the hot path have in common: keys that are well mixed already need no hasher, only a number that
/// nobody outside knows, so that nobody can choose which of them meet.
@frozen
public enum TableHash {
    /// Known to this process alone.
    static let secret = random()

    /// Any number but the few that a multiplication does nothing with.
    public static func random() -> UInt64 { .random(in: 1 << 32 ... .max) | 1 }

    /// Hot path: one multiplication, whose halves are folded onto each other.
    @inlinable
    @inline(__always)
    public static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
