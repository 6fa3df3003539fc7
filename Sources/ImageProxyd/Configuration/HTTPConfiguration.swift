// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Bounds of the HTTP server. Configuration: `http`.
struct HTTPSection: Sendable, Hashable, Codable {
    /// Event loops; 0 (the default) means one per core.
    var loops = 0
    /// Connections open at once. Default 16384; beyond it 503 and close, unless a connection that is idle, or one of a client
    /// that has more than half of all, can be closed instead.
    var maxConnections = 16_384
    /// From a request's first byte, or the connection's start, to the end of its head. Default 10s; beyond it 408.
    var headerTimeout: TimeSpan = .seconds(10)
    /// Longest rest between requests on a connection. Default 75s; beyond it the connection is closed.
    var idleTimeout: TimeSpan = .seconds(75)
    /// From the end of a request's head to the end of its body. Default 30s; beyond it 408.
    var bodyTimeout: TimeSpan = .seconds(30)
    /// Time in which a client that is behind has to take `minSendRate`. Default 60s; else the connection is cut.
    var writeTimeout: TimeSpan = .seconds(60)
    /// Bytes a second that a client has to take on average within each `writeTimeout`. Default 256B; 0 is satisfied by any.
    var minSendRate = ByteCount(256)
    /// From the request to its answer's first byte. Default 60s; beyond it the work is cancelled and the answer is 503.
    var requestTimeout: TimeSpan = .seconds(60)
    /// After SIGTERM, how long an idle connection may still send a request. Default 1s; beyond it the
    /// connection is closed.
    var drainGrace: TimeSpan = .seconds(1)
    /// Most bytes of a request's header fields. Default 16KiB; beyond it 431.
    var maxHeaderBytes: ByteCount = .kibibytes(16)
    /// Most bytes of a request's target. Default 8KiB; beyond it 414.
    var maxTargetBytes: ByteCount = .kibibytes(8)
    /// Most bytes of a request's body. Default 1MiB; beyond it 413.
    var maxBodyBytes: ByteCount = .mebibytes(1)
    /// Most field lines of a request. Default 100; beyond it 431.
    var maxFieldLines = 100
    /// Networks of proxies whose `X-Forwarded-For` names the client: in the access log, for the rate limit and for turns in
    /// queues. They keep more than half of `maxConnections` also while others want some. Default none.
    var trustedProxies: [String] = []
    /// Origins whose pages may read images by script (CORS): `["*"]` or such as `https://a.example`. Default none.
    var cors: [String] = []
    /// Whether `dpr=auto` is allowed: browsers are asked for `Sec-CH-DPR`, and the answer varies on it. Default false.
    var clientHints = false
    /// Origins whose pages may see an image's timing: `["*"]` or such as `https://a.example`. Default none.
    var timingAllowOrigin: [String] = []
}
