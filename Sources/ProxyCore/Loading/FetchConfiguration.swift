// SPDX-License-Identifier: Apache-2.0

/// How origins are asked.
///
/// Configuration: `fetch`.
public struct FetchConfiguration: Sendable, Hashable, Codable {
    /// Transfers at once.
    ///
    /// Default 64 (SDWebImage: maxConcurrentDownloads, there 6).
    public var maxConcurrent: Int = 64
    /// Transfers at once to one scheme, host and port.
    ///
    /// Default 6.
    public var maxPerHost: Int = 6
    /// The share of `maxConcurrent`, and of `maxPerHost`, that one client (an IPv4 address, the /64 of an IPv6 one) may use
    /// at once, rounded up, but less than all: so others find a slot, however long its fetches take.
    ///
    /// Default 0.75: 48 of 64, 5 of 6. 1 is no bound: where all requests come by one proxy that `http.trustedProxies` does
    /// not name. What the daemon fetches by itself, and for clients by unix socket, is not bounded by it.
    public var clientShare: Double = 0.75
    /// Fetches that may wait for a slot.
    ///
    /// Default 1024; beyond it 503 `queue_full`.
    public var queue: Int = 1_024
    /// Which of those that wait for one host is next: the oldest (`fifo`), or the newest (`lifo`) for pages that show what
    /// was asked for last. Hosts take turns either way.
    ///
    /// Default `fifo` (SDWebImage: executionOrder).
    public var order: Order = .fifo
    /// Longest wait for a slot.
    ///
    /// Default 30s; beyond it 503 `queue_timeout`.
    public var queueTimeout: TimeSpan = .seconds(30)
    /// Name look-up, connection and TLS together, each hop.
    ///
    /// Default 5s; beyond it 504 `upstream_timeout`.
    public var connectTimeout: TimeSpan = .seconds(5)
    /// From the request sent to the first byte of the answer, each hop.
    ///
    /// Default 15s; beyond it 504.
    public var firstByteTimeout: TimeSpan = .seconds(15)
    /// The whole fetch with its redirects.
    ///
    /// Default 60s; beyond it 504.
    public var totalTimeout: TimeSpan = .seconds(60)
    /// Fewer bytes of body than this each second, on average over `lowSpeedTime`, end the transfer with 504.
    ///
    /// Default 1KiB; 0 is off.
    public var lowSpeed: ByteCount = .kibibytes(1)
    /// See `lowSpeed`.
    ///
    /// Default 10s.
    public var lowSpeedTime: TimeSpan = .seconds(10)
    /// Redirects followed.
    ///
    /// Default 5; beyond it 502 `too_many_redirects`.
    public var maxRedirects: Int = 5
    /// Most bytes of a body, counted as they arrive and are decoded.
    ///
    /// Default 25MiB; beyond it 422 `source_too_large`. All that comes over the connection for one answer, what frames the
    /// body included, is at most twice this and `maxHeadBytes` together.
    public var maxBytes: ByteCount = .mebibytes(25)
    /// Most bytes of a response's head.
    ///
    /// Default 64KiB; beyond it 502 `upstream_incomplete`.
    public var maxHeadBytes: ByteCount = .kibibytes(64)
    /// Retries after a failure to connect, before any byte was sent.
    ///
    /// Default 1.
    public var retries: Int = 1
    /// The pause before such a retry, of which chance takes up to half; it doubles with each further one.
    ///
    /// Default 100ms.
    public var retryDelay: TimeSpan = .milliseconds(100)
    /// Longest `Retry-After` of an origin's error that is passed on; a longer one becomes this.
    ///
    /// Default 1h; 0 passes none on. `failedURLs.maxRetryAfter` says how much of it is obeyed.
    public var maxRetryAfter: TimeSpan = .hours(1)
    /// How old a connection may be that is used again.
    ///
    /// Default 1m; 0 is no bound. Seconds, rounded up.
    public var connectionLifetime: TimeSpan = .minutes(1)
    /// How long an origin that has sent bytes which nobody had asked for has a connection for each request.
    ///
    /// Default 10m; 0 goes by the one request alone.
    public var distrust: TimeSpan = .minutes(10)
    /// The `User-Agent` sent to origins.
    public var userAgent: String = "imageproxyd"
    /// The name under which the daemon enters itself in `Via` and `CDN-Loop` of its requests, and knows a request that
    /// it has sent itself (508). Daemons that fetch from one another need different names.
    ///
    /// Default `imageproxyd`.
    public var via: String = "imageproxyd"
    /// Further fields sent to every origin, by name.
    public var headers: [String: String] = [:]
    /// Whether HTTP/2 is used where an origin offers it over TLS.
    ///
    /// Default true.
    public var http2: Bool = true
    /// A proxy that all fetches go through: `http://host:port`, `https://host:port` or `socks5h://host:port`.
    ///
    /// Default none. Needs `security.trustFetchProxy`, because only the proxy then sees which addresses are connected to.
    public var proxy: String = ""

    /// The order within the line of one host.
    public enum Order: String, Sendable, Hashable, Codable, CaseIterable {
        case fifo, lifo
    }

    /// The defaults.
    public init() {}
}

/// Whom the daemon may connect to.
///
/// Configuration: part of `security`.
public struct AddressConfiguration: Sendable, Hashable, Codable {
    /// Networks (CIDR) that may be connected to although they are private, loopback, link-local or otherwise special.
    ///
    /// A prefix of 96 bits or fewer behind which all of IPv4 lies (NAT64's `64:ff9b::/96`) opens the way to public addresses
    /// there; private ones have to be named themselves.
    public var allowedNetworks: [String] = []
    /// Networks (CIDR) that may never be connected to; wins over `allowedNetworks`.
    public var deniedNetworks: [String] = []
    /// Ports that may be connected to; empty (the default) means all but the Fetch standard's bad ports.
    public var ports: [Int] = []

    /// The defaults: public addresses only.
    public init() {}
}
