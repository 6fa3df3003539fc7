// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// What a purge removes: in the tiers of this node, in the shared store, and at the other nodes.
package enum PurgeTarget: Sendable, Hashable {
    /// A source with all its variants.
    case source(CacheKey)
    /// One entry: a result, or an original.
    case key(CacheKey)
    /// Every result under a tag.
    case tag(String)
    /// Every source whose normalized URL begins with this.
    case prefix(String)
    case everything
}
