// SPDX-License-Identifier: Apache-2.0

/// What a request asks of the cache: by its `Cache-Control` (RFC 9111 §5.2.1), or by options that mean the same.
///
/// The former only where the configuration trusts clients with it (`freshness.clientDirectives`); else `none`.
public struct RequestDirectives: Sendable, Hashable {
    /// `no-cache`: ask the origin, whatever is stored.
    public var noCache = false
    /// `no-store`: keep nothing of the answer; what is stored already may be used.
    public var noStore = false
    /// `only-if-cached`: never ask the origin.
    public var onlyIfCached = false
    /// `max-age`: no older than this, in seconds.
    public var maxAge: Int64?
    /// `min-fresh`: fresh for at least this many seconds more.
    public var minFresh: Int64?
    /// `max-stale`: stale by at most this many seconds; without a number by any.
    public var maxStale: Int64?
    /// Try although a failure is remembered (SDWebImage: retryFailed); no directive of HTTP, but an option of ours.
    public var retryFailed = false

    /// Ask the origin for a confirmation, however fresh the copy is (SDWebImage: refreshCached).
    public var refreshesCached = false
    /// Write nothing to disk (SDWebImage: storeCacheType memory).
    public var memoryOnly = false
    /// Answer once what was stored would survive a loss of power.
    public var waitsForStore = false

    /// Asks for nothing in particular.
    public static let none = RequestDirectives()

    /// Asks for nothing in particular, yet.
    public init() {}

    /// Reads the lines of `Cache-Control`, and those of `Pragma` only where there is none of the former (RFC 9111 §5.4).
    ///
    /// A number that makes no sense is read as the strictest one, `max-stale` as absent; of two the stricter holds.
    public init(cacheControl: [String], pragma: [String]) {
        guard !cacheControl.isEmpty else {
            noCache = pragma.contains { value in FieldList(value).contains { $0.name == "no-cache" } }
            return
        }
        for value in cacheControl {
            for directive in FieldList(value) { apply(directive.name, directive.argument) }
        }
    }

    /// Adds what the options of a request ask for.
    public mutating func apply(_ options: ImageOptions) {
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
