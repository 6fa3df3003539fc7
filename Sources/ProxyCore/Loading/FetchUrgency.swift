// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// How urgent one fetch is: as much as for the most urgent of those who wait for it; it never falls.
public final class FetchUrgency: Sendable {
    private struct State {
        var priority: FetchPriority
        var observer: (@Sendable (FetchPriority) -> Void)?
    }

    private let state: Mutex<State>

    /// A fetch of this priority to begin with.
    public init(_ priority: FetchPriority = .normal) {
        state = Mutex(State(priority: priority))
    }

    /// The priority now.
    public var priority: FetchPriority { state.withLock { $0.priority } }

    /// Makes it more urgent; nothing happens where it is so already.
    public func raise(to priority: FetchPriority) {
        let observer = state.withLock { state in
            guard priority > state.priority else { return (@Sendable (FetchPriority) -> Void)?.none }
            state.priority = priority
            return state.observer
        }
        observer?(priority)
    }

    /// Tells `observer` when it becomes more urgent, in place of who was told before.
    func observe(_ observer: (@Sendable (FetchPriority) -> Void)?) {
        state.withLock { $0.observer = observer }
    }
}

extension FetchUrgency: Hashable {
    /// One is equal to itself alone.
    public static func == (left: FetchUrgency, right: FetchUrgency) -> Bool { left === right }

    /// Hashes its identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
