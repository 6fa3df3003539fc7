// SPDX-License-Identifier: Apache-2.0

package import Primitives
import Synchronization

/// A link from a tag to a result and its source, for purges by tag.
package struct TagLink: Sendable, Hashable {
    /// The tag's name.
    package var tag: String
    /// The result that was requested under it.
    package var result: CacheKey
    /// The result's source.
    package var source: CacheKey

    package init(tag: String, result: CacheKey, source: CacheKey) {
        self.tag = tag
        self.result = result
        self.source = source
    }
}

/// Tags that the index contains for certain, so that they are not written for each request, and are copied to
/// another index.
///
/// Only the thread that writes the index changes it, together with that: a link that is known here is found
/// by the next purge. Bounded: a full one is emptied. May be read from any thread.
final class KnownTags: Sendable {
    /// Most links, about 300 bytes each with a long tag.
    private static let capacity = 16_384
    private let links = Mutex<Set<TagLink>>([])

    /// All known links.
    var all: [TagLink] { links.withLock { Array($0) } }

    /// Those of one tag; O(n).
    func links(of tag: String) -> [TagLink] {
        links.withLock { known in known.filter { $0.tag == tag } }
    }

    /// Those that have to be written, as far as is known.
    func unknown(of links: [TagLink]) -> [TagLink] {
        self.links.withLock { known in links.filter { !known.contains($0) } }
    }

    /// Records links that have been written; when there is no space it forgets all others before, or records none, and returns false.
    @discardableResult
    func insert(_ links: [TagLink], mayForget: Bool = true) -> Bool {
        self.links.withLock { known in
            if known.count + links.count > Self.capacity {
                guard mayForget else { return false }
                known = []
            }
            known.formUnion(links.prefix(Self.capacity))
            return true
        }
    }

    /// Removes links that are about to be removed from the index.
    func remove(_ links: [TagLink]) {
        self.links.withLock { $0.subtract(links) }
    }

    func removeAll() { links.withLock { $0 = [] } }
}
