// SPDX-License-Identifier: Apache-2.0

internal import ProxyCore

/// Facts about a request that are needed when its answer has been sent: packed into the 64 bits that the
/// server returns.
struct ExchangeContext: Equatable {
    var route: Metric.Route
    var cache: Metric.Cache

    init(_ route: Metric.Route, _ cache: Metric.Cache = .none) {
        self.route = route
        self.cache = cache
    }

    /// Unpacks; 0, which the server uses for its own answers, is "other, no cache".
    init(packed: UInt64) {
        route = Metric.Route(rawValue: Int(packed & 0xFF) - 1) ?? .other
        cache = Metric.Cache(rawValue: Int(packed >> 8 & 0xFF)) ?? .none
    }

    /// The 64 bits.
    var packed: UInt64 { UInt64(route.rawValue + 1) | UInt64(cache.rawValue) << 8 }
}

extension Metric.Cache {
    /// How the cache took part in making an image.
    init(_ image: ImageResponse) {
        self =
            switch image.provenance {
            case _ where image.isCollapsed: .collapsed
            case .memory: .memory
            case .disk: .disk
            case .storedOriginal: .original
            case .revalidated: .revalidated
            case .fetched: .miss
            case .stale: .stale
            }
    }
}
