// SPDX-License-Identifier: Apache-2.0

/// How an image is looked up and stored: the members of `options` (SDWebImage: SDWebImageOptions).
package struct ImageOptions: OptionSet, Sendable, Hashable {
    /// The set as bits; never stored.
    package let rawValue: UInt16

    /// Creates a set from bits.
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Fetches although a failure is remembered; success removes the failure.
    package static let retryFailed = ImageOptions(rawValue: 1 << 0)
    /// Revalidates now; after a 304 the stored copy stays.
    static let refreshCached = ImageOptions(rawValue: 1 << 1)
    /// Never fetches, also not to refresh what is stale.
    package static let fromCacheOnly = ImageOptions(rawValue: 1 << 2)
    /// Fetches even if a copy is stored; the new response is stored.
    package static let fromLoaderOnly = ImageOptions(rawValue: 1 << 3)
    /// Writes nothing to disk.
    package static let memoryOnly = ImageOptions(rawValue: 1 << 4)
    /// Finishes the work and stores its result even after every client has left.
    package static let continueInBackground = ImageOptions(rawValue: 1 << 5)
    /// Sends the client's cookies to the origin; the answer is for this client alone.
    package static let handleCookies = ImageOptions(rawValue: 1 << 6)
    /// Answers only when the result would survive a power loss.
    static let waitStore = ImageOptions(rawValue: 1 << 7)
    /// Shrinks a source beyond the pixel limit during decoding, in place of 422.
    package static let scaleDownLarge = ImageOptions(rawValue: 1 << 8)

    /// The options that bypass a cache or a remembered failure, or let the daemon work without a client:
    /// allowed for signed requests, or for all if the configuration says so.
    package static let privileged: ImageOptions = [
        .retryFailed, .refreshCached, .fromLoaderOnly, .memoryOnly, .handleCookies, .continueInBackground,
    ]

    /// The options for which an answer from memory would be wrong, or the refresh of a stale one.
    package static let bypassing: ImageOptions = [
        .refreshCached, .fromLoaderOnly, .fromCacheOnly, .handleCookies, .waitStore,
    ]

    /// Every option with its name in a request.
    package static let names: [(name: String, option: ImageOptions)] = [
        ("retry-failed", .retryFailed), ("refresh-cached", .refreshCached),
        ("from-cache-only", .fromCacheOnly), ("from-loader-only", .fromLoaderOnly),
        ("memory-only", .memoryOnly), ("continue-in-background", .continueInBackground),
        ("handle-cookies", .handleCookies), ("wait-store", .waitStore),
        ("scale-down-large", .scaleDownLarge),
    ]

    /// The option of this name; nil when there is none.
    package init?(named name: some StringProtocol) {
        guard let row = Self.names.first(where: { $0.name == name }) else { return nil }
        self = row.option
    }

    package var memberNames: [String] { Self.names.filter { contains($0.option) }.map(\.name) }
}
