// SPDX-License-Identifier: Apache-2.0

/// The hash of hot-path tables: keys that are already well mixed need no hasher, only a secret number, so
/// that a client can't choose keys that collide.
package enum TableHash {
    /// A number that only this process knows.
    package static let secret = random()

    /// A random odd number, large enough that a multiplication mixes all bits.
    package static func random() -> UInt64 { .random(in: 1 << 32 ... .max) | 1 }

    /// Hot path: one multiplication, whose halves are combined.
    @inlinable
    @inline(__always)
    package static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
