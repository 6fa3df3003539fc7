// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts the open files of bodies, so that descriptors remain for other uses.
///
/// A client that reads its answer slowly keeps one open for that time. Safe from any thread.
package final class BodyFiles: Sendable {
    private let open = Atomic(0)
    private let bound = Atomic(Int.max)

    /// The number of files that may always be open: otherwise no answer could use a file when clients hold
    /// nearly all descriptors.
    private static let fewest = 8

    /// Creates a counter without a bound.
    package init() {}

    /// Sets the maximum number of open files.
    package func allow(_ count: Int) {
        bound.store(count, ordering: .relaxed)
    }

    /// Raises the maximum, or lowers it for a negative count: as clients connect and leave.
    package func allow(more count: Int) {
        bound.wrappingAdd(count, ordering: .relaxed)
    }

    package var count: Int { open.load(ordering: .relaxed) }

    /// Counts an opened file; false if there are too many.
    package func enter() -> Bool {
        let count = open.wrappingAdd(1, ordering: .relaxed).newValue
        guard count > max(Self.fewest, bound.load(ordering: .relaxed)) else { return true }
        leave()
        return false
    }

    /// Counts a closed file.
    package func leave() {
        open.wrappingSubtract(1, ordering: .relaxed)
    }
}
