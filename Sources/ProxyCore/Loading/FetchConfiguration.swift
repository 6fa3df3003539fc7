// SPDX-License-Identifier: Apache-2.0

package import Primitives
import URLs

/// How the daemon fetches from origins.
///
/// Configuration: `fetch`.
package struct FetchConfiguration: Sendable, Hashable, Codable {
    /// The maximum number of concurrent transfers.
    ///
    /// Default 64 (SDWebImage: maxConcurrentDownloads, there 6).
    package var maxConcurrent: Int = 64
    /// The maximum number of concurrent transfers to one scheme, host and port.
    ///
    /// Default 6.
    package var maxPerHost: Int = 6
    /// The share of `maxConcurrent`, and of `maxPerHost`, that one client (an IPv4 address, the /64 of an
    /// IPv6 one) may use at once, rounded up, but less than all, so that slots remain for other clients.
    ///
    /// Default 0.75: 48 of 64, 5 of 6. 1 is no bound, for setups where all requests come from one proxy that
    /// `http.trustedProxies` does not name. The daemon's own fetches and clients of a unix socket are not
    /// bounded.
    package var clientShare: Double = 0.75
    /// The maximum number of fetches that wait for a slot.
    ///
    /// Default 1024; beyond it 503 `queue_full`.
    package var queue: Int = 1_024
    /// Which fetch that waits for one host is next: the oldest (`fifo`), or the newest (`lifo`) for pages
    /// that show the latest requests first. Hosts take turns in either order.
    ///
    /// Default `fifo` (SDWebImage: executionOrder).
    package var order: Order = .fifo
    /// The longest wait for a slot.
    ///
    /// Default 30s; beyond it 503 `queue_timeout`.
    package var queueTimeout: TimeSpan = .seconds(30)
    /// The maximum time for name look-up, connection and TLS together, for each hop.
    ///
    /// Default 5s; beyond it 504 `upstream_timeout`.
    package var connectTimeout: TimeSpan = .seconds(5)
    /// The maximum time from the end of the request to the first byte of the response, for each hop.
    ///
    /// Default 15s; beyond it 504.
    package var firstByteTimeout: TimeSpan = .seconds(15)
    /// The maximum time of the whole fetch with its redirects.
    ///
    /// Default 60s; beyond it 504.
    package var totalTimeout: TimeSpan = .seconds(60)
    /// The minimum number of body bytes each second, on average over `lowSpeedTime`; fewer end the transfer
    /// with 504.
    ///
    /// Default 1KiB; 0 is off.
    package var lowSpeed: ByteCount = .kibibytes(1)
    /// The period over which `lowSpeed` is averaged.
    ///
    /// Default 10s.
    package var lowSpeedTime: TimeSpan = .seconds(10)
    /// The maximum number of redirects.
    ///
    /// Default 5; beyond it 502 `too_many_redirects`.
    package var maxRedirects: Int = 5
    /// The maximum number of bytes of a body, counted as they arrive and as they are decoded.
    ///
    /// Default 25MiB; beyond it 422 `source_too_large`. All bytes that a connection delivers for one
    /// response, including those that frame the body, are limited to twice the sum of this and
    /// `maxHeadBytes`.
    package var maxBytes: ByteCount = .mebibytes(25)
    /// The maximum number of bytes of a response's head.
    ///
    /// Default 64KiB; beyond it 502 `upstream_incomplete`.
    package var maxHeadBytes: ByteCount = .kibibytes(64)
    /// The number of retries after a failure to connect, before any byte was sent.
    ///
    /// Default 1.
    package var retries: Int = 1
    /// The pause before such a retry; a random part of up to half is taken off; the pause doubles with each
    /// retry.
    ///
    /// Default 100ms.
    package var retryDelay: TimeSpan = .milliseconds(100)
    /// The longest `Retry-After` of an origin's error that is passed on to clients; a longer one is replaced
    /// by this.
    ///
    /// Default 1h; 0 passes none on. `failedURLs.maxRetryAfter` bounds how long the daemon itself follows it.
    package var maxRetryAfter: TimeSpan = .hours(1)
    /// The maximum age of a connection that is reused.
    ///
    /// Default 1m; 0 is no bound. Seconds, rounded up.
    package var connectionLifetime: TimeSpan = .minutes(1)
    /// How long each request to an origin has its own connection after the origin has sent bytes without a
    /// request.
    ///
    /// Default 10m; with 0 only the one request gets a new connection.
    package var distrust: TimeSpan = .minutes(10)
    /// The `User-Agent` sent to origins.
    package var userAgent: String = "imageproxyd"
    /// The daemon's name in `Via` and `CDN-Loop` of its requests, by which it recognizes a request that it
    /// has sent itself (508). Daemons that fetch from one another need different names.
    ///
    /// Default `imageproxyd`.
    package var via: String = "imageproxyd"
    /// Additional fields for every origin, by name.
    package var headers: [String: String] = [:]
    /// Whether the daemon uses HTTP/2 if an origin offers it over TLS.
    ///
    /// Default true.
    package var http2: Bool = true
    /// The proxy for all fetches: `http://host:port`, `https://host:port` or `socks5h://host:port`.
    ///
    /// Default none. Needs `security.trustFetchProxy`, because only the proxy then knows the addresses that
    /// it connects to.
    package var proxy: String = ""

    /// The order of the fetches that wait for one host.
    package enum Order: String, Sendable, Hashable, Codable, CaseIterable {
        case fifo, lifo
    }

    /// The defaults.
    package init() {}
}

extension FetchConfiguration {
    /// Whether `text` names a proxy: a supported scheme, a host and an optional port, and nothing else.
    package static func isProxy(_ text: String) -> Bool {
        let schemes = ["http", "https", "socks5h"]
        guard let scheme = schemes.first(where: { text.lowercased().hasPrefix($0 + "://") }) else {
            return false
        }
        // Parsed by the rules of a source's authority, whatever the scheme.
        let url = try? SourceURL(parsing: "http" + text.dropFirst(scheme.utf8.count))
        return url.map { $0.path == "/" && $0.query == nil } ?? false
    }
}
