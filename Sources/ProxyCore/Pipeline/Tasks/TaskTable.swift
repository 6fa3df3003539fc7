// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// At most one task for a key, however many callers want its result (request collapsing, RFC 9211).
///
/// The work runs in a task of its own, so a caller that leaves disturbs no other. When the last subscription ends, the task
/// can't be joined any more and is cancelled. `Progress` exists from the task's beginning, so that a caller can follow the
/// work. Bounded by the callers: a task without a subscription is cancelled.
final class TaskTable<Key: Hashable & Sendable, Progress: Sendable, Output: Sendable, Failure: Error>:
    Sendable
{
    /// What a task does. It gets its progress, and `detach`, which keeps later callers from joining the task.
    typealias Work =
        @Sendable (Progress, _ detach: @escaping @Sendable () -> Void) async throws(Failure) -> Output

    private let joinable = Mutex<[Key: SharedTask]>([:])

    /// The number of tasks that can be joined.
    var count: Int { joinable.withLock { $0.count } }

    /// Subscribes to the task for `key`; starts one if none can be joined.
    ///
    /// Never suspends. The subscription ends when the last reference to it is released.
    /// - Parameter progress: made when a task begins, under the table's lock: must not block, and may take
    ///   only locks under which the table is never called.
    func join(_ key: Key, progress: @autoclosure () -> Progress, work: @escaping Work) -> Subscription {
        let (task, isLeader) = joinable.withLock { table in
            // A task whose last subscription is just ending refuses; a new one takes its place.
            if let task = table[key], task.subscribe() { return (task, false) }
            let task = SharedTask(progress: progress())
            table[key] = task
            return (task, true)
        }
        if isLeader { task.start(Task { await self.run(task, key, work) }) }
        return Subscription(table: self, key: key, task: task, isLeader: isLeader)
    }

    /// What can be followed of the task for `key`, without a subscription; nil when there is none.
    func progress(of key: Key) -> Progress? { joinable.withLock { $0[key]?.progress } }

    /// Keeps later callers from joining any task whose key `matches`; present subscribers still get its result. Looks at each.
    func detach(where matches: (Key) -> Bool) {
        joinable.withLock { table in
            for key in table.keys.filter(matches) { table[key] = nil }
        }
    }

    private func run(_ task: SharedTask, _ key: Key, _ work: Work) async {
        let result: Result<Output, Failure>
        do throws(Failure) {
            // Weak: the work's progress may hold the closure, and the task holds that.
            result = .success(
                try await work(task.progress) { [weak task] in task.map { self.detach($0, key) } })
        } catch {
            result = .failure(error)
        }
        detach(task, key)
        task.result.set(result)
    }

    private func detach(_ task: SharedTask, _ key: Key) {
        joinable.withLock { table in
            if table[key] === task { table[key] = nil }
        }
    }

    /// One caller's interest in a task; ends when it is released.
    final class Subscription: Sendable {
        private let table: TaskTable
        private let task: SharedTask

        let key: Key

        /// Whether this caller started the task; the others were collapsed into it.
        let isLeader: Bool

        /// What can be followed while the task runs.
        var progress: Progress { task.progress }

        /// The task's result: to be awaited in as many tasks as share the subscription; it may be observed beyond its end.
        var result: Promise<Result<Output, Failure>> { task.result }

        /// Keeps later callers from joining this task.
        func detach() { table.detach(task, key) }

        fileprivate init(table: TaskTable, key: Key, task: SharedTask, isLeader: Bool) {
            (self.table, self.key, self.task, self.isLeader) = (table, key, task, isLeader)
        }

        deinit {
            guard task.unsubscribe() else { return }
            table.detach(task, key)
        }
    }

    /// One task, behind its own lock. Taken after the table's lock, never before it.
    fileprivate final class SharedTask: Sendable {
        private struct State {
            var subscribers = 1
            var task: Task<Void, Never>?
        }

        private let state = Mutex(State())
        let progress: Progress
        let result = Promise<Result<Output, Failure>>()

        init(progress: Progress) {
            self.progress = progress
        }

        /// Remembers the task that does the work; cancels it if every subscriber has left meanwhile.
        func start(_ task: Task<Void, Never>) {
            let isAbandoned = state.withLock { state in
                state.task = task
                return state.subscribers == 0
            }
            if isAbandoned { task.cancel() }
        }

        /// Adds a subscriber; false when the last one has left already.
        func subscribe() -> Bool {
            state.withLock { state in
                guard state.subscribers > 0 else { return false }
                state.subscribers += 1
                return true
            }
        }

        /// Removes a subscriber; true, and the work cancelled, when that was the last one.
        func unsubscribe() -> Bool {
            let (isLast, task) = state.withLock { state in
                state.subscribers -= 1
                return (state.subscribers == 0, state.task)
            }
            if isLast { task?.cancel() }
            return isLast
        }
    }
}
