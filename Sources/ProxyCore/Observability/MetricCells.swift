// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The share of the counters to write to: each event loop has its own, so that loops do not contend for cache
/// lines; all other threads share one.
package struct MetricShard: Sendable, Hashable {
    /// The share's number, from 0; one beyond the existing shares stands for the common one.
    package let index: Int

    /// Wraps a number, 0 or more.
    @inlinable
    package init(index: Int) {
        self.index = index
    }

    /// The share of all threads that are not event loops.
    @inlinable
    package static var shared: MetricShard { MetricShard(index: 0) }

    /// The share of the event loop with this number, counted from 0.
    @inlinable
    package static func loop(_ number: Int) -> MetricShard { MetricShard(index: number + 1) }
}

/// Counters in memory, preallocated: one row of cells a share, rows on cache lines of their own.
///
/// Adding takes neither lock nor allocation: an event loop is the only writer of its row, so there it is a
/// load and a store; the common row takes an atomic addition. Reading sums the rows. Safe because the pointer
/// is set once in init, freed in deinit, and every access to a cell is atomic.
@usableFromInline
@safe
final class MetricCells: @unchecked Sendable {
    private static let cacheLine = 64
    private static let cellsPerLine = cacheLine / MemoryLayout<Atomic<UInt64>>.stride

    private let cells: UnsafeMutablePointer<Atomic<UInt64>>
    private let shards: Int
    private let stride: Int
    /// Cells of one row.
    let count: Int

    /// Allocates `shards` rows of `count` zeros.
    init(count: Int, shards: Int) {
        self.count = count
        self.shards = shards
        stride = (count + Self.cellsPerLine - 1) / Self.cellsPerLine * Self.cellsPerLine
        let total = stride * self.shards
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: total * MemoryLayout<Atomic<UInt64>>.stride, alignment: Self.cacheLine)
        // Safe because the memory is raw, large enough and aligned, and each cell is initialised once.
        unsafe cells = memory.bindMemory(to: Atomic<UInt64>.self, capacity: total)
        for index in 0..<total {
            unsafe (cells + index).initialize(to: Atomic(0))
        }
    }

    deinit {
        // Safe because no reference to the object exists any more, and its memory came from `allocate`.
        unsafe cells.deinitialize(count: stride * shards)
        unsafe cells.deallocate()
    }

    /// Hot path: adds to one cell; on a loop's own row from that loop alone.
    package func add(_ value: UInt64, at index: Int, on shard: MetricShard) {
        precondition(index >= 0 && index < count)
        guard shard.index > 0, shard.index < shards else {
            // Safe because `index` is below `count`, which is at most `stride`.
            unsafe cells[index].wrappingAdd(value, ordering: .relaxed)
            return
        }
        // Safe as above, and because the row is one of `shards`.
        let cell = unsafe cells + (shard.index * stride + index)
        unsafe cell.pointee.store(cell.pointee.load(ordering: .relaxed) &+ value, ordering: .relaxed)
    }

    /// Returns the sum of a cell over all rows.
    func sum(at index: Int) -> UInt64 {
        precondition(index >= 0 && index < count)
        return (0..<shards).reduce(0) { total, row in
            // Safe because `index` and `row` are within the allocation.
            unsafe total &+ cells[row * stride + index].load(ordering: .relaxed)
        }
    }
}
