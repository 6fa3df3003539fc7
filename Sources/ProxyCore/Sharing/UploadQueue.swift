// SPDX-License-Identifier: Apache-2.0

package import Cache
package import Freshness
import Primitives
import Synchronization

/// A picture that is to be uploaded. The queue holds names; bytes are read when the upload starts.
package struct SharedUpload: Sendable {
    /// What is read then.
    package struct Content: Sendable {
        package var record: SourceRecord
        /// The picture, or the original; nil for the record alone.
        package var entry: PortableEntry?

        /// Combines the members.
        package init(record: SourceRecord, entry: PortableEntry?) {
            (self.record, self.entry) = (record, entry)
        }
    }

    /// What of a picture it is.
    package enum Part: Sendable {
        case result, original
        /// The record of the source alone.
        case record
    }

    package var part: Part
    /// Which picture.
    package var subject: SharedSubject
    /// Void once it is purged.
    package var token: PurgeToken
    /// Reads it; nil if it is not there any more.
    package var read: @Sendable () async -> Content?

    /// How often it has failed.
    var failures = 0
    /// What it waits as: a later one of the same key replaces it.
    var key: CacheKey {
        switch part {
        case .result: subject.result
        case .original: subject.source
        // A key of its own: a record must not replace the source's original.
        case .record: CacheKey(high: subject.source.low, low: subject.source.high)
        }
    }

    /// Combines the members.
    package init(
        _ part: Part, of subject: SharedSubject, token: PurgeToken,
        read: @escaping @Sendable () async -> Content?
    ) {
        (self.part, self.subject, self.token, self.read) = (part, subject, token, read)
    }
}

/// Which pictures wait to be uploaded, and which are worth it. Bounded by bytes; safe from any thread.
final class UploadQueue: Sendable {
    private struct State {
        var waiting: [CacheKey: SharedUpload] = [:]
        var order = FIFO<CacheKey>()
        var bytes = 0
        var dropped = 0
        var running = 0
        /// Uses of pictures that are not uploaded yet, and of those that are, so that they are not again.
        var uses = EvictionRing<CacheKey, Uses>(scanLimit: 64)
    }

    /// What is known of one picture.
    enum Uses {
        case counted(Int)
        /// Since when, in seconds since 1970 by the store's clock.
        case isShared(Int64)
    }

    private let maxBytes: Int
    private let minUses: Int
    private let minCost: Int
    private let state = Mutex(State())

    /// Most pictures whose uses are counted, about 100 bytes each.
    private static let maxCounted = 65_536

    /// - Parameter minCost: in milliseconds.
    init(maxBytes: Int, minUses: Int, minCost: Int) {
        (self.maxBytes, self.minUses, self.minCost) = (maxBytes, minUses, minCost)
    }

    /// Bytes that wait.
    var byteCount: Int { state.withLock { $0.bytes } }
    /// Pictures that found no place.
    var dropped: Int { state.withLock { $0.dropped } }

    /// Counts a use, and whether the picture is worth an upload now.
    ///
    /// - Parameters:
    ///   - key: of the picture, or of the original.
    ///   - cost: milliseconds of work that it took; nil for a use of what was there.
    ///   - isThere: whether what the tier got at a time is still there, as far as purges and ages decide that.
    func isWorthIt(_ key: CacheKey, cost: Int?, isThere: (Int64) -> Bool) -> Bool {
        state.withLock { state in
            var count = 1
            switch state.uses.value(for: key) {
            // What has just been made replaces what is there.
            case .isShared(let time) where isThere(time): return cost.map { $0 >= minCost } ?? false
            case .counted(let known): count += known
            case .isShared, nil: break
            }
            guard count < minUses, cost.map({ $0 < minCost }) ?? true else { return true }
            state.uses.store(.counted(count), for: key, capacity: Self.maxCounted)
            return false
        }
    }

    /// Notes that the tier has a picture.
    func noteShared(_ key: CacheKey, at time: Int64) {
        state.withLock { $0.uses.store(.isShared(time), for: key, capacity: Self.maxCounted) }
    }

    /// Notes that what the tier has can't be used: the next one is worth an upload at once.
    func noteUnusable(_ keys: [CacheKey]) {
        state.withLock { state in
            for key in keys { state.uses.store(.counted(minUses), for: key, capacity: Self.maxCounted) }
        }
    }

    /// Notes that one found no place.
    func countDropped() { state.withLock { $0.dropped += 1 } }

    /// Whether this node has put the picture there, or found it there.
    func isShared(_ key: CacheKey) -> Bool {
        state.withLock { state in
            if case .isShared = state.uses.peek(key) { true } else { false }
        }
    }

    /// Has an upload wait; false where it finds no place. A later one of the same picture replaces an earlier one.
    func append(_ upload: SharedUpload) -> Bool {
        let key = upload.key
        return state.withLock { state in
            if let known = state.waiting[key] {
                state.bytes -= known.subject.byteCount
            } else {
                guard state.bytes + upload.subject.byteCount <= maxBytes else {
                    state.dropped += 1
                    return false
                }
                state.order.append(key)
            }
            state.waiting[key] = upload
            state.bytes += upload.subject.byteCount
            return true
        }
    }

    /// Takes the next one to run; nil if none waits, or so many run.
    func begin(atMost limit: Int) -> SharedUpload? {
        state.withLock { state in
            guard state.running < limit, let key = state.order.popFirst(),
                let next = state.waiting.removeValue(forKey: key)
            else { return nil }
            state.bytes -= next.subject.byteCount
            state.running += 1
            return next
        }
    }

    /// Notes the end of one.
    func end() { state.withLock { $0.running -= 1 } }
}
