// SPDX-License-Identifier: Apache-2.0

/// How an image is looked for and kept: the members of `options` (SDWebImage: SDWebImageOptions).
public struct ImageOptions: OptionSet, Sendable, Hashable {
    /// The set as bits; never stored.
    public let rawValue: UInt16

    /// Wraps bits.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// Tries although a failure is remembered; success clears it.
    public static let retryFailed = ImageOptions(rawValue: 1 << 0)
    /// Revalidates now; a 304 keeps the copy.
    public static let refreshCached = ImageOptions(rawValue: 1 << 1)
    /// Never asks the origin.
    public static let fromCacheOnly = ImageOptions(rawValue: 1 << 2)
    /// Asks the origin whatever is stored; what comes is stored.
    public static let fromLoaderOnly = ImageOptions(rawValue: 1 << 3)
    /// Writes nothing to disk.
    public static let memoryOnly = ImageOptions(rawValue: 1 << 4)
    /// Finishes and stores although every client left.
    public static let continueInBackground = ImageOptions(rawValue: 1 << 5)
    /// Sends the client's cookies upstream, and shares the answer with nobody.
    public static let handleCookies = ImageOptions(rawValue: 1 << 6)
    /// Answers once what was made would survive a loss of power.
    public static let waitStore = ImageOptions(rawValue: 1 << 7)
    /// Shrinks a source beyond the pixel limit while it is decoded, in place of 422.
    public static let scaleDownLarge = ImageOptions(rawValue: 1 << 8)

    /// Those that skip a cache or the blacklist, or have the daemon work for no client: for signed requests, or where the
    /// configuration allows them to all.
    public static let privileged: ImageOptions = [
        .retryFailed, .refreshCached, .fromLoaderOnly, .memoryOnly, .handleCookies, .continueInBackground,
    ]

    /// Those under which an answer from memory would be the wrong one.
    public static let bypassing: ImageOptions = [
        .refreshCached, .fromLoaderOnly, .handleCookies, .waitStore,
    ]

    /// Every option by its name in a request.
    public static let names: [(name: String, option: ImageOptions)] = [
        ("retry-failed", .retryFailed), ("refresh-cached", .refreshCached),
        ("from-cache-only", .fromCacheOnly), ("from-loader-only", .fromLoaderOnly),
        ("memory-only", .memoryOnly), ("continue-in-background", .continueInBackground),
        ("handle-cookies", .handleCookies), ("wait-store", .waitStore),
        ("scale-down-large", .scaleDownLarge),
    ]

    /// The option of this name; nil when there is none.
    public init?(named name: some StringProtocol) {
        guard let row = Self.names.first(where: { $0.name == name }) else { return nil }
        self = row.option
    }

    /// The names of the members.
    public var memberNames: [String] { Self.names.filter { contains($0.option) }.map(\.name) }
}
