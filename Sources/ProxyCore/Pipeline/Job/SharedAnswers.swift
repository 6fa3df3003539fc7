// SPDX-License-Identifier: Apache-2.0

import Cache
import Primitives
import Sharing
import Synchronization

/// What a job has asked its source's home and the shared tier, so that it asks neither of them twice for one picture.
///
/// A picture is named by its result's key: a job that turns out to make another picture asks for that one. Safe from any task.
final class SharedAnswers: Sendable {
    /// What is asked for a picture.
    enum Place: Hashable { case home, store }

    private struct Question: Hashable {
        let place: Place
        let picture: CacheKey
    }

    private struct State {
        var asked: Set<Question> = []
        var pictures: [CacheKey: PortableEntry] = [:]
    }

    private let state = Mutex(State())

    /// Whether a place is yet to be asked for a picture; true once, and the caller asks it.
    func begin(_ place: Place, _ picture: CacheKey) -> Bool {
        state.withLock { $0.asked.insert(Question(place: place, picture: picture)).inserted }
    }

    /// Holds a picture that came together with the record of its source, until it is known whether that may be used.
    func keep(_ entry: PortableEntry, as picture: CacheKey) {
        state.withLock { $0.pictures[picture] = entry }
    }

    /// Removes and returns a picture that was kept.
    func take(_ picture: CacheKey) -> PortableEntry? {
        state.withLock { $0.pictures.removeValue(forKey: picture) }
    }
}
