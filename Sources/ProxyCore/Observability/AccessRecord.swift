// SPDX-License-Identifier: Apache-2.0

import URLs

/// The access log's record of one request, made when it has ended.
///
/// Plain values inline, and a hit's URL is a part of its entry's key: recording a hit allocates nothing. Without the query, which contains signatures and
/// source URLs.
package struct AccessRecord: Sendable {
    /// The end of the request, in nanoseconds of CLOCK_MONOTONIC.
    package var finishedAt: UInt64
    /// From the complete head to the end, in nanoseconds.
    package var duration: UInt64
    /// The status sent; 499 if the client had disconnected.
    package var status: Int
    /// Bytes of the body sent.
    package var bytes: Int
    package var route: Metric.Route
    /// How the cache took part.
    package var cache: Metric.Cache
    /// The method's name.
    package var method: StaticString = "GET"
    /// The target's path, without query; empty means the route's own.
    package var path = InlineText()
    /// The request's id.
    package var requestID = InlineText()
    /// The id of the trace that the request was part of (W3C Trace Context).
    package var traceID: UInt128?
    /// The peer.
    package var client = Client.unix
    /// The additional values of a miss; nil for a hit.
    package var miss: Miss? {
        get { if case .miss(let miss) = boxedMiss { miss } else { nil } }
        set { boxedMiss = newValue.map(BoxedMiss.miss) }
    }
    private var boxedMiss: BoxedMiss?
    /// The URL of a hit's source; nil where none is logged, and for a miss.
    package var hitURL: Substring?
    /// How much of `hitURL` is logged.
    package var hitURLDetail = LogConfiguration.URLDetail.none

    /// The additional values of the line; those of a hit are read from its URL here, on the writer's thread.
    var additional: Miss? {
        guard let hitURL else { return miss }
        // Ignored: nothing; a URL that has been fetched can be parsed.
        return Miss(LoggedURL(try? SourceURL(parsing: String(hitURL)), as: hitURLDetail))
    }

    /// Stores a miss's texts elsewhere, so that the record of a hit is small.
    private indirect enum BoxedMiss: Sendable {
        case miss(Miss)
    }

    /// The peer's address.
    package enum Client: Sendable, Hashable {
        /// A unix socket, which has no address.
        case unix
        /// An IPv4 address in host byte order.
        case v4(UInt32)
        /// An IPv6 address as two halves in host byte order.
        case v6(UInt64, UInt64)
    }

    /// The values of a request that had to wait.
    package struct Miss: Sendable, Hashable {
        /// The source's host; empty if `log.url` omits it or there is none.
        package var host: String
        /// The source's port; 0 likewise.
        package var port = 0
        /// The source's URL, if `log.url` requires it; else empty.
        package var url = ""
        /// Microseconds spent waiting for a worker, fetching, decoding, transforming and encoding; 0 where not done.
        package var queue = 0, fetch = 0, decode = 0, transform = 0, encode = 0
        /// What was purged: `url`, `key:…`, `tag:…` or `all`; empty if nothing was.
        package var purge = ""
        /// The code of the problem, such as `upstream_timeout`; empty if there was none.
        package var problem = ""
        /// The name of the parameter at fault; empty if there is none.
        package var parameter = ""
        /// The status that the origin answered with, if that is the problem; else 0.
        package var upstreamStatus = 0
        /// What the kernel, TLS, libcurl or the daemon reported of the problem; empty if nothing.
        package var reason = ""
        /// The families of the addresses that new connections to the origin were tried to, such as `ipv6,ipv4`; empty if
        /// there were none.
        package var families = ""
        /// Redirects that were followed.
        package var redirects = 0
        /// Host and port where the problem arose, unless they are the source's own; else empty.
        package var hop = ""

        /// The preset that was requested; empty if none was. Not logged.
        package var preset = ""

        /// Creates the values for a source.
        package init(_ source: LoggedURL) {
            (host, port, url) = (source.host, source.port, source.text)
        }

        /// Creates the values for a source on `host`.
        package init(host: String) {
            self.host = host
        }
    }

    /// Creates a record with the values of every request.
    @inlinable
    package init(
        finishedAt: UInt64, duration: UInt64, status: Int, bytes: Int, route: Metric.Route,
        cache: Metric.Cache
    ) {
        self.finishedAt = finishedAt
        self.duration = duration
        self.status = status
        self.bytes = bytes
        self.route = route
        self.cache = cache
    }
}

extension AccessRecord {
    /// The 32 hexadecimal digits of a trace's id (Trace Context §3.2.2.3).
    static func digits(ofTrace id: UInt128) -> String {
        let digits = String(id, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}

extension AccessRecord.Client: CustomStringConvertible {
    /// The address as text (RFC 5952 without the compression of zeros: every group is written).
    package var description: String {
        switch self {
        case .unix: "unix"
        case .v4(let bits):
            [24, 16, 8, 0].map { "\(bits >> UInt32($0) & 255)" }.joined(separator: ".")
        case .v6(let high, let low):
            [high, low].flatMap { half in
                [48, 32, 16, 0].map { String(half >> UInt64($0) & 0xFFFF, radix: 16) }
            }.joined(separator: ":")
        }
    }
}
