// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts the files that bodies are read from and written into, for no more may be open than leave descriptors for others.
///
/// A client who takes his answer slowly holds one all the time. Safe from any thread.
public final class BodyFiles: Sendable {
    private let open = Atomic(0)
    private let bound = Atomic(Int.max)

    /// So many may always be open: or where clients have nearly all descriptors, nobody would get anything from a file.
    private static let fewest = 8

    /// Without a bound.
    public init() {}

    /// Sets how many may be open.
    public func allow(_ count: Int) {
        bound.store(count, ordering: .relaxed)
    }

    /// Lets so many more be open, or fewer where negative: as clients come and go.
    public func allow(more count: Int) {
        bound.wrappingAdd(count, ordering: .relaxed)
    }

    /// How many are open.
    public var count: Int { open.load(ordering: .relaxed) }

    /// Counts one in; false when there are too many.
    func enter() -> Bool {
        let count = open.wrappingAdd(1, ordering: .relaxed).newValue
        guard count > max(Self.fewest, bound.load(ordering: .relaxed)) else { return true }
        leave()
        return false
    }

    /// Counts one out.
    func leave() {
        open.wrappingSubtract(1, ordering: .relaxed)
    }
}
