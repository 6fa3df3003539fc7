// SPDX-License-Identifier: Apache-2.0

import Bodies
import Synchronization

/// Shares the process's descriptors between connections and the disk tier's open files: files use those that
/// are free, and are closed when connections need them.
///
/// Safe from any thread; opening or closing a connection costs three atomic steps, unless the share changes.
final class DescriptorShare: Sendable {
    private let budget: DescriptorBudget
    private let wanted: Int
    private let bodies: BodyFiles
    private let keepFiles: @Sendable (Int) -> Void
    private let closeFiles: @Sendable (Int) -> Int
    private let connections = Atomic(0)
    private let bound: Atomic<Int>
    /// Held while the bound changes.
    private let changing = Mutex(())

    /// What a connection may need: its socket, and a file that is being sent and no longer cached.
    private static let perConnection = 2
    /// Connections are counted in steps of this size, so that few of them change the bound.
    private static let step = 64
    /// The number of files to close if the descriptors are exhausted all the same.
    private static let freedAtOnce = 256

    /// - Parameters:
    ///   - budget: the number of descriptors, and their shares.
    ///   - wanted: the maximum number of cached open files.
    ///   - bodies: receives how many files may be open for clients, cached or not.
    ///   - keepFiles: receives how many files may be cached, whenever that changes, and now.
    ///   - closeFiles: closes about so many files, and returns how many it has closed.
    init(
        budget: DescriptorBudget, wanted: Int, bodies: BodyFiles = BodyFiles(),
        keepFiles: @escaping @Sendable (Int) -> Void, closeFiles: @escaping @Sendable (Int) -> Int
    ) {
        self.budget = budget
        self.wanted = wanted
        self.bodies = bodies
        self.keepFiles = keepFiles
        self.closeFiles = closeFiles
        bound = Atomic(-1)
        bodies.allow(budget.files)
        connectionsChanged(by: 0)
    }

    /// Records that so many connections have been opened, or closed.
    func connectionsChanged(by change: Int) {
        connections.wrappingAdd(change, ordering: .sequentiallyConsistent)
        bodies.allow(more: -change)
        guard bound.load(ordering: .sequentiallyConsistent) != wantedBound else { return }
        changing.withLock { _ in
            // Repeated, because of this interleaving: (1) A counts and is here, (2) B counts, finds the bound
            // that A is about to replace correct, and returns, (3) A replaces it by what was correct before
            // B.
            while true {
                let most = wantedBound
                guard bound.exchange(most, ordering: .sequentiallyConsistent) != most else { return }
                keepFiles(most)
            }
        }
    }

    /// How many files may be cached beside the present connections.
    private var wantedBound: Int {
        Self.files(wanted, of: budget, beside: connections.load(ordering: .sequentiallyConsistent))
    }

    /// Closes some files, because descriptors are exhausted all the same; false if none is cached.
    func freeDescriptors() -> Bool { closeFiles(Self.freedAtOnce) > 0 }

    /// How many files may be cached beside so many connections.
    static func files(_ wanted: Int, of budget: DescriptorBudget, beside connections: Int) -> Int {
        let steps = (connections + step - 1) / step * step
        return min(wanted, max(0, budget.files - perConnection * steps))
    }
}
