// SPDX-License-Identifier: Apache-2.0

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
