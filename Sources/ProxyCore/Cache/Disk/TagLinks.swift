// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A tag on a result and its source, to be purged by.
public struct TagLink: Sendable, Hashable {
    /// The tag's name.
    public var tag: String
    /// The result that was asked for under it.
    public var result: CacheKey
    /// The source behind that.
    public var source: CacheKey

    /// Ties a tag to a result.
    public init(tag: String, result: CacheKey, source: CacheKey) {
        self.tag = tag
        self.result = result
        self.source = source
    }
}

/// Tags that the index holds for certain, so that they are not written for each request, and another index learns of them.
///
/// Only the thread that writes the index changes it, together with that: a link that is known here is found by the next
/// purge. Bounded: full, it starts anew. May be asked from any thread.
final class KnownTags: Sendable {
    /// Most links, about 300 bytes each with a long tag.
    private static let capacity = 16_384
    private let links = Mutex<Set<TagLink>>([])

    /// All that are known.
    var all: [TagLink] { links.withLock { Array($0) } }

    /// Those of one tag; looks at each.
    func links(of tag: String) -> [TagLink] {
        links.withLock { known in known.filter { $0.tag == tag } }
    }

    /// Those that have to be written, as far as is known.
    func unknown(of links: [TagLink]) -> [TagLink] {
        self.links.withLock { known in links.filter { !known.contains($0) } }
    }

    /// Notes links that have been written.
    func insert(_ links: [TagLink]) {
        self.links.withLock { known in
            if known.count + links.count > Self.capacity { known = [] }
            known.formUnion(links.prefix(Self.capacity))
        }
    }

    /// Notes links unless that would have it start anew; false where it would.
    func insertIfRoom(_ links: [TagLink]) -> Bool {
        self.links.withLock { known in
            let all = known.union(links)
            guard all.count <= Self.capacity else { return false }
            known = all
            return true
        }
    }

    /// Forgets links that are about to be removed.
    func remove(_ links: [TagLink]) {
        self.links.withLock { $0.subtract(links) }
    }

    /// Forgets all.
    func removeAll() { links.withLock { $0 = [] } }
}
