// SPDX-License-Identifier: Apache-2.0

/// A request's directives for the cache: of its `Cache-Control` (RFC 9111 §5.2.1), or of options with the
/// same meaning.
///
/// The former only if the configuration trusts clients with it (`freshness.clientDirectives`); else `none`.
package struct RequestDirectives: Sendable, Hashable {
    /// `no-cache`: send a request to the origin, whatever is stored.
    package var noCache = false
    /// `no-store`: do not store the answer; what is stored already may be used.
    package var noStore = false
    /// `only-if-cached`: never send a request to the origin.
    package var onlyIfCached = false
    /// `max-age`: no older than this, in seconds.
    package var maxAge: Int64?
    /// `min-fresh`: fresh for at least this many seconds more.
    package var minFresh: Int64?
    /// `max-stale`: stale by at most this many seconds; without a number by any.
    var maxStale: Int64?
    /// Try although a failure is remembered (SDWebImage: retryFailed); not a directive of HTTP, but an
    /// option.
    package var retryFailed = false

    /// Revalidate at the origin, however fresh the copy is (SDWebImage: refreshCached).
    var refreshesCached = false
    /// Write nothing to disk (SDWebImage: storeCacheType memory).
    package var memoryOnly = false
    /// Answer once what was stored would survive a power loss.
    package var waitsForStore = false

    package static let none = RequestDirectives()

    /// No directives yet.
    package init() {}

    /// Those of a request's options.
    package init(_ options: ImageOptions) { apply(options) }

    /// Parses the lines of `Cache-Control`, and those of `Pragma` only if there is none of the former (RFC
    /// 9111 §5.4).
    ///
    /// An invalid number counts as the strictest one, an invalid `max-stale` as absent; of two the stricter
    /// counts.
    package init(cacheControl: [String], pragma: [String]) {
        guard !cacheControl.isEmpty else {
            noCache = pragma.contains { value in FieldList(value).contains { $0.name == "no-cache" } }
            return
        }
        for value in cacheControl {
            for directive in FieldList(value) { apply(directive.name, directive.argument) }
        }
    }

    /// Adds the directives of a request's options.
    package mutating func apply(_ options: ImageOptions) {
        if options.contains(.fromLoaderOnly) { noCache = true }
        if options.contains(.fromCacheOnly) { onlyIfCached = true }
        if options.contains(.retryFailed) { retryFailed = true }
        if options.contains(.refreshCached) { refreshesCached = true }
        if options.contains(.memoryOnly) { memoryOnly = true }
        if options.contains(.waitStore) { waitsForStore = true }
    }

    private mutating func apply(_ name: String, _ argument: String?) {
        let seconds = CacheControl.seconds(argument)
        switch name {
        case "no-cache": noCache = true
        case "no-store": noStore = true
        case "only-if-cached": onlyIfCached = true
        case "max-age": maxAge = min(maxAge ?? .max, seconds ?? 0)
        case "min-fresh": minFresh = max(minFresh ?? 0, seconds ?? CacheControl.mostSeconds)
        case "max-stale":
            guard let limit = argument == nil ? CacheControl.mostSeconds : seconds else { return }
            maxStale = min(maxStale ?? .max, limit)
        default: return
        }
    }
}
