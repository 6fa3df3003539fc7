// SPDX-License-Identifier: Apache-2.0

internal import ProxyCore
internal import Synchronization

/// From exact request targets to prepared answers, so that a hit needs neither parsing nor keys.
///
/// An alias enters only behind a complete check of its request; the bytes stay in the memory tier under the result
/// key, so an alias whose entry is gone is a miss. Bounded: a shard that is full is emptied by half.
final class AliasTable: Sendable {
    /// Aliases of one target: one, or one for each variant of the fields that count.
    private typealias Shard = Mutex<[TargetDigest: [Alias]]>

    private final class Box: Sendable {
        let shard = Shard([:])
    }

    private let boxes: [Box]
    private let hash = TargetHash()
    private let shardCapacity: Int

    /// Most variants kept for one target; more make the oldest go.
    private static let variantsPerTarget = 8

    /// An empty table for at most about `capacity` targets.
    init(capacity: Int, shardCount: Int = 16) {
        boxes = (0..<shardCount).map { _ in Box() }
        shardCapacity = max(16, capacity / shardCount)
    }

    /// What is known of a target.
    enum Finding {
        case nothing
        /// The target alone decides.
        case alone(Alias)
        /// Which one, the request's fields decide.
        case variants([Alias])
    }

    /// Hot path: looks a target up.
    func aliases(of target: UnsafeRawBufferPointer) -> Finding {
        let hash = unsafe self.hash(target)
        return box(of: hash).shard.withLock { aliases in
            guard let variants = aliases[hash], let first = variants.first, unsafe first.isFor(target) else {
                return .nothing
            }
            return first.variant.isAlone ? .alone(first) : .variants(variants)
        }
    }

    /// Remembers an alias, in place of one for the same target and class, and of another target with the same hash.
    func insert(_ alias: Alias) {
        let hash = unsafe alias.target.withUnsafeBytes { unsafe self.hash($0) }
        box(of: hash).shard.withLock { aliases in
            if aliases.count >= shardCapacity, aliases[hash] == nil { Self.halve(&aliases) }
            var variants = aliases[hash] ?? []
            variants.removeAll { $0.variant == alias.variant || $0.target != alias.target }
            if alias.variant.isAlone || variants.first?.variant.isAlone ?? true { variants = [] }
            if variants.count >= Self.variantsPerTarget { variants.removeFirst() }
            aliases[hash] = variants + [alias]
        }
    }

    /// Forgets everything: called when a setting that was checked on the way in has changed.
    func removeAll() {
        for box in boxes { box.shard.withLock { $0 = [:] } }
    }

    private func box(of hash: TargetDigest) -> Box {
        boxes[Int(hash.bits >> 40) % boxes.count]
    }

    /// Drops every second alias: dictionary order is random by seed, so nobody can choose which.
    private static func halve(_ aliases: inout [TargetDigest: [Alias]]) {
        for (index, hash) in Array(aliases.keys).enumerated() where index.isMultiple(of: 2) {
            aliases[hash] = nil
        }
    }
}
