// SPDX-License-Identifier: Apache-2.0

package import Cache
internal import Synchronization

/// Maps exact request targets to prepared answers, so that a hit needs neither parsing nor keys.
///
/// An alias is inserted only after a complete check of its request; the bytes stay in the memory tier under
/// the result key, so an alias whose entry was evicted is a miss. Bounded by count and by the bytes of all
/// targets and heads: a full shard drops half of its targets.
package final class AliasTable: Sendable {
    /// Aliases of one target: one, or one for each variant of the fields that count.
    fileprivate struct Shard {
        var aliases: [TargetDigest: [Alias]] = [:]
        /// The memory that all of them take, in bytes.
        var bytes = 0
    }

    private final class Box: Sendable {
        let shard = Mutex(Shard())
    }

    private let boxes: [Box]
    private let hash = TargetHash()
    private let shardCapacity: Int
    private let share: MemoryShare

    /// The maximum number of variants of one target; another one replaces the oldest.
    private static let variantsPerTarget = 8
    /// The maximum length of a target that is stored, in bytes; a longer one is parsed each time.
    package static let maxTargetBytes = 2_048

    /// Creates an empty table for at most about `capacity` targets, within the bytes of `share`.
    package init(capacity: Int, share: MemoryShare, shardCount: Int = 16) {
        boxes = (0..<shardCount).map { _ in Box() }
        shardCapacity = max(16, capacity / shardCount)
        self.share = share
    }

    /// The result of looking up a target.
    enum Finding {
        case nothing
        /// The target alone decides.
        case alone(Alias)
        /// The request's fields decide which one.
        case variants([Alias])
    }

    /// Hot path: looks a target up.
    func aliases(of target: UnsafeRawBufferPointer) -> Finding {
        let hash = unsafe self.hash(target)
        return box(of: hash).shard.withLock { shard in
            guard let variants = shard.aliases[hash], let first = variants.first, unsafe first.isFor(target)
            else { return .nothing }
            return first.variant.dependsOnNoField ? .alone(first) : .variants(variants)
        }
    }

    /// Stores an alias, in place of one for the same target and class, and of another target with the same
    /// hash.
    ///
    /// One with a long target, or that alone exceeds a shard's share, is not stored.
    func insert(_ alias: Alias) {
        let shardBytes = share.limit / boxes.count
        guard alias.target.count <= Self.maxTargetBytes, alias.cost <= shardBytes else { return }
        let hash = unsafe alias.target.withUnsafeBytes { unsafe self.hash($0) }
        let change = box(of: hash).shard.withLock { shard in
            let before = shard.bytes
            shard.insert(alias, hash, mostVariants: Self.variantsPerTarget)
            while shard.aliases.count > shardCapacity || shard.bytes > shardBytes, shard.halve(sparing: hash)
            {}
            return shard.bytes - before
        }
        share.change(by: change)
    }

    private func box(of hash: TargetDigest) -> Box {
        boxes[Int(hash.bits >> 40) % boxes.count]
    }
}

extension AliasTable.Shard {
    fileprivate mutating func insert(_ alias: Alias, _ hash: TargetDigest, mostVariants: Int) {
        let earlier = aliases[hash] ?? []
        var variants = earlier.filter { $0.variant != alias.variant && $0.target == alias.target }
        if alias.variant.dependsOnNoField || variants.first?.variant.dependsOnNoField ?? true {
            variants = []
        }
        if variants.count >= mostVariants { variants.removeFirst() }
        variants.append(alias)
        aliases[hash] = variants
        bytes += Self.cost(of: variants) - Self.cost(of: earlier)
    }

    /// Removes every second target: dictionary order is random by seed, so no client can choose which. False
    /// if there is none.
    fileprivate mutating func halve(sparing kept: TargetDigest) -> Bool {
        let others = aliases.keys.filter { $0 != kept }
        for (index, hash) in others.enumerated() where index.isMultiple(of: 2) {
            guard let variants = aliases.removeValue(forKey: hash) else { continue }
            bytes -= Self.cost(of: variants)
        }
        guard others.isEmpty, var variants = aliases[kept], variants.count > 1 else { return !others.isEmpty }
        // One target with its variants fills the shard.
        bytes -= variants.removeFirst().cost
        aliases[kept] = variants
        return true
    }

    private static func cost(of variants: [Alias]) -> Int { variants.reduce(0) { $0 + $1.cost } }
}
