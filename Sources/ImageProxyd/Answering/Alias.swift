// SPDX-License-Identifier: Apache-2.0

import Glibc
import HTTPServer
import Primitives

/// The prepared answer of one request target, for one variant of the fields that count: its entry's key and
/// its head.
final class Alias: Sendable {
    /// The exact target, raw bytes.
    let target: [UInt8]
    /// The fields it was negotiated for.
    let variant: AliasVariant
    /// The key of the entry in the memory tier.
    let key: CacheKey
    /// The identity of the entry that the heads below were made from; another one under the same key needs
    /// new heads.
    let entry: UInt64
    /// The head of the 200.
    let head: PreparedFields
    /// The head of the 304.
    let notModifiedHead: PreparedFields
    /// The validators of the bytes.
    let validators: Validators
    /// What is said of reuse, where that depends on the answer's age; else it stands in the heads.
    let lifetimes: AnswerLifetimes?
    /// When the target's signature expires, in seconds since 1970.
    let expires: Int64
    /// The memory it takes, in bytes: target and heads, the objects, and its slot in the table.
    let cost: Int

    /// The memory it takes in addition to target and heads, in bytes.
    private static let overhead = 512

    init(
        target: [UInt8], variant: AliasVariant, key: CacheKey, entry: UInt64, head: PreparedFields,
        notModifiedHead: PreparedFields, validators: Validators, lifetimes: AnswerLifetimes? = nil,
        expires: Int64?
    ) {
        self.target = target
        self.variant = variant
        self.key = key
        self.entry = entry
        self.head = head.compact
        self.notModifiedHead = notModifiedHead
        self.validators = validators
        self.lifetimes = lifetimes
        self.expires = expires ?? .max
        cost = target.count + self.head.memoryBytes + notModifiedHead.memoryBytes + Self.overhead
    }

    /// Hot path: whether this is the alias of `target`.
    func isFor(_ target: UnsafeRawBufferPointer) -> Bool {
        guard target.count == self.target.count, let other = target.baseAddress else { return false }
        return unsafe self.target.withUnsafeBytes { own in
            // Safe because both have `target.count` bytes and an array that is not empty has an address.
            unsafe own.baseAddress.map { unsafe memcmp($0, other, target.count) == 0 } ?? false
        }
    }
}
