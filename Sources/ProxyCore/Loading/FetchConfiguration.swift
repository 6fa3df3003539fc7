// SPDX-License-Identifier: Apache-2.0

package import Primitives
import URLs

/// How the daemon fetches from origins. Configuration: `fetch`.
package struct FetchConfiguration: SettingGroup {
    package var maxConcurrent = 64
    package var maxPerHost = 6
    package var clientShare = 0.75
    package var queue = 1_024
    package var order = Order.fifo
    package var queueTimeout = TimeSpan.seconds(30)
    package var connectTimeout = TimeSpan.seconds(5)
    package var firstByteTimeout = TimeSpan.seconds(15)
    package var totalTimeout = TimeSpan.seconds(60)
    package var lowSpeed = ByteCount.kibibytes(1)
    package var lowSpeedTime = TimeSpan.seconds(10)
    package var maxRedirects = 5
    package var maxBytes = ByteCount.mebibytes(25)
    package var maxHeadBytes = ByteCount.kibibytes(64)
    package var retries = 1
    var retryDelay = TimeSpan.milliseconds(100)
    package var maxRetryAfter = TimeSpan.hours(1)
    var connectionLifetime = TimeSpan.minutes(1)
    var distrust = TimeSpan.minutes(10)
    package var userAgent = "imageproxyd"
    package var via = "imageproxyd"
    package var headers: [String: String] = [:]
    var http2 = true
    package var proxy = ""

    /// The order of the fetches that wait for one host.
    package enum Order: String, SettingValue, CaseIterable {
        case fifo, lifo
    }

    /// Creates the defaults.
    package init() {}

    package static let settings = SettingTable<Self>("How origins are asked.", reload: .takes) {
        Setting(
            "maxConcurrent", \.maxConcurrent, in: 1...10_000,
            "The maximum number of concurrent transfers (SDWebImage: maxConcurrentDownloads).")
        Setting(
            "maxPerHost", \.maxPerHost, in: 1...10_000,
            "The maximum number of concurrent transfers to one scheme, host and port.")
        Setting(
            "clientShare", \.clientShare, in: 0.1...1,
            """
            The share of `maxConcurrent`, of `maxPerHost`, and of a rule's `maxConcurrent`, that one client (an IPv4 address,
            the /64 of an IPv6 one) may use at once, rounded up, but less than all, so that slots remain for other clients. 1
            is no bound, for setups where all requests come from one proxy that `http.trustedProxies` does not name. The
            daemon's own fetches and clients of a unix socket are not bounded.
            """)
        Setting(
            "queue", \.queue, in: 0...1_000_000,
            "The maximum number of fetches that wait for a slot; beyond it 503 `queue_full`.")
        Setting(
            "order", \.order,
            """
            Which fetch that waits for one host is next: the oldest (`fifo`), or the newest (`lifo`) for pages that show the
            latest requests first (SDWebImage: executionOrder). Hosts take turns in either order.
            """)
        Setting(
            "queueTimeout", \.queueTimeout, in: .milliseconds(1)...(.hours(1)),
            "The longest wait for a slot; beyond it 503 `queue_timeout`.")
        Setting(
            "connectTimeout", \.connectTimeout, in: .milliseconds(1)...(.hours(1)),
            """
            The maximum time for name look-up, connection and TLS together, for each hop; beyond it 504 `upstream_timeout`.
            """)
        Setting(
            "firstByteTimeout", \.firstByteTimeout, in: .milliseconds(1)...(.hours(1)),
            """
            The maximum time from the end of the request to the first byte of the response, for each hop; beyond it 504.
            """)
        Setting(
            "totalTimeout", \.totalTimeout, in: .milliseconds(1)...(.hours(1)),
            "The maximum time of the whole fetch with its redirects; beyond it 504.")
        Setting(
            "lowSpeed", \.lowSpeed, in: .zero...(.gibibytes(1)),
            """
            The minimum number of body bytes each second, on average over `lowSpeedTime`; fewer end the transfer with 504;
            0 is off.
            """)
        Setting(
            "lowSpeedTime", \.lowSpeedTime, in: .seconds(1)...(.hours(1)),
            "The period over which `lowSpeed` is averaged.")
        Setting(
            "maxRedirects", \.maxRedirects, in: 0...50,
            "The maximum number of redirects; beyond it 502 `too_many_redirects`.")
        Setting(
            "maxBytes", \.maxBytes, in: .kibibytes(1)...(.gibibytes(16)),
            """
            The maximum number of bytes of a body, counted as they arrive and as they are decoded; beyond it 422
            `source_too_large`. All bytes that a connection delivers for one response, including those that frame the
            body, are limited to twice the sum of this and `maxHeadBytes`.
            """)
        Setting(
            "maxHeadBytes", \.maxHeadBytes, in: .kibibytes(1)...(.mebibytes(16)),
            "The maximum number of bytes of a response's head; beyond it 502 `upstream_incomplete`.")
        Setting(
            "retries", \.retries, in: 0...10,
            "The number of retries after a failure to connect, before any byte was sent.")
        Setting(
            "retryDelay", \.retryDelay, in: .zero...(.seconds(10)),
            """
            The pause before such a retry; a random part of up to half is taken off; the pause doubles with each retry.
            """)
        Setting(
            "maxRetryAfter", \.maxRetryAfter, in: .zero...(.days(1)),
            """
            The longest `Retry-After` of an origin's error that is passed on to clients; a longer one is replaced by this;
            0 passes none on. `failedURLs.maxRetryAfter` bounds how long the daemon itself follows it.
            """)
        Setting(
            "connectionLifetime", \.connectionLifetime, in: .zero...(.days(1)),
            "The maximum age of a connection that is reused, rounded up to seconds; 0 is no bound.")
        Setting(
            "distrust", \.distrust, in: .zero...(.days(1)),
            """
            How long each request to an origin has its own connection after the origin has sent bytes without a request;
            with 0 only the one request gets a new connection.
            """)
        Setting(
            "userAgent", \.userAgent, allowed: "printable ASCII without line breaks",
            "The `User-Agent` sent to origins.", where: isFieldValue)
        Setting(
            "via", \.via, allowed: "a token (RFC 9110 §5.6.2)", reload: .needsRestart,
            """
            The daemon's name in `Via` and `CDN-Loop` of its requests, by which it recognizes a request that it has sent
            itself (508). Daemons that fetch from one another need different names.
            """, where: \.isToken)
        Setting("headers", \.headers, isSecret: true, "Additional fields for every origin, by name.")
        Setting(
            "http2", \.http2, reload: .needsRestart,
            "Whether the daemon uses HTTP/2 if an origin offers it over TLS.")
        Setting(
            "proxy", \.proxy, allowed: "http://host:port, https://host:port or socks5h://host:port",
            isSecret: true, reload: .needsRestart,
            """
            The proxy for all fetches. Needs `security.trustFetchProxy`, because only the proxy then knows the addresses
            that it connects to.
            """, where: { $0.isEmpty || proxyURL($0) != nil })
    }

    /// Whether a field that is sent to every origin has a name and a value that a field may have.
    package static func isField(_ name: String, _ value: String) -> Bool {
        name.isToken && isFieldValue(value)
    }

    /// Scheme, host and port of the proxy; nil without one. That of SOCKS is `http`.
    var proxyOrigin: SourceURL.Origin? { Self.proxyURL(proxy)?.origin }

    /// A supported scheme, a host and an optional port, parsed by the rules of a source's authority; nil if
    /// `text` is not that.
    private static func proxyURL(_ text: String) -> SourceURL? {
        let schemes = ["http", "https", "socks5h"]
        guard let scheme = schemes.first(where: { text.lowercased().hasPrefix($0 + "://") }) else {
            return nil
        }
        let rest = text.dropFirst(scheme.utf8.count)
        // Ignored: why it is no URL; the problem says what is allowed.
        guard let url = try? SourceURL(parsing: (scheme == "https" ? scheme : "http") + rest),
            url.path == "/", url.query == nil
        else { return nil }
        // Without a port libcurl takes 1080, but for https.
        guard url.port == 80, rest.split(separator: "/").last?.hasSuffix(":80") == false else { return url }
        // Ignored: the same.
        return try? SourceURL(parsing: "http://\(url.host):1080")
    }

    /// Whether `text` is a field value (RFC 9110 §5.5) of printable ASCII.
    private static func isFieldValue(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && text.first != " " && text.last != " "
    }
}
