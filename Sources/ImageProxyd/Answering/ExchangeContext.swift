// SPDX-License-Identifier: Apache-2.0

package import Observability
package import Pipeline

/// Facts about a request that are needed when its answer has been sent: packed into the 64 bits that the
/// server returns.
package struct ExchangeContext: Equatable {
    package var route: Metric.Route
    package var cache: Metric.Cache
    /// Where the fault lies, if more is known of that than the answer's status says.
    package var cause: Metric.FailureCause?

    package init(_ route: Metric.Route, _ cache: Metric.Cache = .none, cause: Metric.FailureCause? = nil) {
        self.route = route
        self.cache = cache
        self.cause = cause
    }

    /// Unpacks; 0, which the server uses for its own answers, is "other, no cache".
    package init(packed: UInt64) {
        route = Metric.Route(rawValue: Int(packed & 0xFF) - 1) ?? .other
        cache = Metric.Cache(rawValue: Int(packed >> 8 & 0xFF)) ?? .none
        cause = Metric.FailureCause(rawValue: Int(packed >> 16 & 0xFF) - 1)
    }

    /// The 64 bits.
    package var packed: UInt64 {
        UInt64(route.rawValue + 1) | UInt64(cache.rawValue) << 8
            | UInt64(cause.map { $0.rawValue + 1 } ?? 0) << 16
    }
}

extension Metric.Cache {
    /// How the cache took part in making an image.
    package init(_ image: ImageResponse) {
        self =
            switch image.provenance {
            case _ where image.isCollapsed: .collapsed
            case .memory: .memory
            case .disk: .disk
            case .shared: .shared
            case .stored: .original
            case .revalidated: .revalidated
            case .fetched: .miss
            case .stale: .stale
            }
    }
}
