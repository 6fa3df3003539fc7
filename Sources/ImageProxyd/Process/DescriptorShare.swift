// SPDX-License-Identifier: Apache-2.0

internal import ProxyCore
import Synchronization

/// Shares the process's descriptors: files of the disk tier stay open on those that clients leave, and give way at once.
///
/// Safe from any thread; a connection that comes or goes costs three atomic steps, unless the share changes.
final class DescriptorShare: Sendable {
    private let budget: DescriptorBudget
    private let wanted: Int
    private let bodies: BodyFiles
    private let keepFiles: @Sendable (Int) -> Void
    private let closeFiles: @Sendable (Int) -> Int
    private let connections = Atomic(0)
    private let bound: Atomic<Int>
    /// Taken while the bound changes.
    private let changing = Mutex(())

    /// What a connection may need: its socket, and a file that is sent from and no longer kept.
    private static let perConnection = 2
    /// Connections are counted in steps of so many, so that few of them change anything.
    private static let step = 64
    /// Files that are closed where the descriptors have run out all the same.
    private static let relief = 256

    /// - Parameters:
    ///   - budget: of how many the process may have open.
    ///   - wanted: most files kept open.
    ///   - bodies: told how many files may be open for clients, kept or not.
    ///   - keepFiles: told how many may be kept open, whenever that changes, and now.
    ///   - closeFiles: asked to close about so many, and answers how many it has let go.
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

    /// Notes that so many connections have come, or gone.
    func connectionsChanged(by change: Int) {
        connections.wrappingAdd(change, ordering: .sequentiallyConsistent)
        bodies.allow(more: -change)
        guard bound.load(ordering: .sequentiallyConsistent) != wantedBound else { return }
        changing.withLock { _ in
            // Again: (1) A counts and is here, (2) B counts, finds the bound that A is about to replace right, and leaves,
            // (3) A replaces it by what was right before B.
            while true {
                let most = wantedBound
                guard bound.exchange(most, ordering: .sequentiallyConsistent) != most else { return }
                keepFiles(most)
            }
        }
    }

    /// How many files may be kept open beside the connections that there are now.
    private var wantedBound: Int {
        Self.files(wanted, of: budget, beside: connections.load(ordering: .sequentiallyConsistent))
    }

    /// Closes some files, because descriptors have run out all the same; false where none is kept open.
    func relieve() -> Bool { closeFiles(Self.relief) > 0 }

    /// How many files may be kept open beside so many connections.
    static func files(_ wanted: Int, of budget: DescriptorBudget, beside connections: Int) -> Int {
        let steps = (connections + step - 1) / step * step
        return min(wanted, max(0, budget.files - perConnection * steps))
    }
}
