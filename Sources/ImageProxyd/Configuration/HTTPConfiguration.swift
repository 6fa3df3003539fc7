// SPDX-License-Identifier: Apache-2.0

internal import CLinux
import HTTPServer
import Primitives
import URLs

/// The HTTP server's bounds, and what its answers allow browsers. Configuration: `http`.
struct HTTPConfiguration: SettingGroup {
    var loops = 0
    /// The server's own settings; of these, only those that the table names are set here.
    var server = HTTPServer.Configuration()
    var trustedProxies: [String] = []
    var cors: [String] = []
    var clientHints = false
    var timingAllowOrigin: [String] = []

    static let settings = SettingTable<Self>("Bounds of the HTTP server.", reload: .needsRestart) {
        Setting("loops", \.loops, in: 1...1_024, orZero: "one per core", "Event loops.")
        Setting(
            "maxConnections", \.server.maxConnections, in: 1...1_000_000,
            """
            Connections open at once; beyond it 503 and close, unless a connection that is idle, or one of a client that
            has more than half of all, can be closed instead.
            """)
        Setting(
            "headerTimeout", \.server.headerTimeout.timeSpan, in: time,
            "From a request's first byte, or the connection's start, to the end of its head; beyond it 408.")
        Setting(
            "idleTimeout", \.server.idleTimeout.timeSpan, in: time,
            "Longest time between requests on a connection; beyond it the connection is closed.")
        Setting(
            "bodyTimeout", \.server.bodyTimeout.timeSpan, in: time,
            "From the end of a request's head to the end of its body; beyond it 408.")
        Setting(
            "writeTimeout", \.server.writeTimeout.timeSpan, in: time,
            "Time in which a client that is behind has to take `minSendRate`; else the connection is cut.")
        Setting(
            "minSendRate", \.server.minSendRate.byteCount, in: .zero...(.mebibytes(1)),
            """
            Bytes a second that a client has to take on average within each `writeTimeout`; 0 is satisfied by any.
            """)
        Setting(
            "requestTimeout", \.server.requestTimeout.timeSpan, in: time,
            """
            From the request to its answer's first byte; beyond it the work is cancelled and the answer is 503.
            """)
        Setting(
            "drainGrace", \.server.drainGrace.timeSpan, in: .zero...(.seconds(30)),
            """
            After SIGTERM, how long an idle connection may still send a request; beyond it the connection is closed.
            """)
        Setting(
            "maxHeaderBytes", \.server.limits.headBytes.byteCount, in: .kibibytes(1)...(.mebibytes(1)),
            "Most bytes of a request's header fields; beyond it 431.")
        Setting(
            "maxTargetBytes", \.server.limits.targetBytes.byteCount, in: ByteCount(256)...(.mebibytes(1)),
            "Most bytes of a request's target; beyond it 414.")
        Setting(
            "maxBodyBytes", \.server.limits.contentBytes.byteCount, in: .zero...(.gibibytes(1)),
            "Most bytes of a request's body; beyond it 413.")
        Setting(
            "maxFieldLines", \.server.limits.fieldLines, in: 1...10_000,
            "Most field lines of a request; beyond it 431.")
        Setting(
            "trustedProxies", \.trustedProxies,
            each:
                "a network such as 10.0.0.0/8 or fd00::/8: no bit is set behind those that the length counts",
            """
            Networks of proxies whose `X-Forwarded-For` names the client: in the access log, for the rate limit and for
            turns in queues. They keep more than half of `maxConnections` also while others want some.
            """
        ) { $0.filter { Network($0) == nil } }
        Setting(
            "cors", \.cors, each: origins, reload: .takes,
            "Origins whose pages may read images by script (CORS).", refusing: invalidOrigins)
        Setting(
            "clientHints", \.clientHints, reload: .takes,
            """
            Whether `dpr=auto` is allowed: `Sec-CH-DPR` is requested from browsers, and the answer varies on it.
            """)
        Setting(
            "timingAllowOrigin", \.timingAllowOrigin,
            each: origins, reload: .takes,
            "Origins whose pages may see an image's timing.", refusing: invalidOrigins)
    }

    private static let time = TimeSpan.milliseconds(1)...TimeSpan.hours(1)

    private static let origins = #""*" alone, or origins such as https://a.example"#

    /// What is no origin as a browser spells it in `Origin` (RFC 6454 §6.2): scheme, host, and port unless it is
    /// the default; `*` alone stands for all.
    private static func invalidOrigins(in texts: [String]) -> [String] {
        guard texts != ["*"] else { return [] }
        return texts.filter { text in
            // Ignored: why it is no URL; the problem names it, and what is allowed.
            let url = try? SourceURL(parsing: text)
            return url?.normalized != text + "/"
        }
    }

    /// The number of event loops.
    var loopCount: Int { loops > 0 ? loops : Int(linux_usable_processors()) }

    /// The server's settings.
    var serverConfiguration: HTTPServer.Configuration {
        var server = server
        server.loops = loopCount
        let proxies = trustedProxies.compactMap { Network($0) }
        server.isTrustedProxy = { peer in
            switch peer {
            case .unix: !proxies.isEmpty
            case .v4(let bits): proxies.contains { $0.contains(IPAddress(v4: bits)) }
            case .v6(let high, let low): proxies.contains { $0.contains(IPAddress(v6: high, low)) }
            }
        }
        return server
    }

    static func == (one: Self, other: Self) -> Bool { settings.json(of: one) == settings.json(of: other) }
}

// The server, which is a library of its own, knows only the standard library's types.

extension Duration {
    fileprivate var timeSpan: TimeSpan {
        get { TimeSpan(milliseconds: Int(self / .milliseconds(1))) }
        set { self = newValue.duration }
    }
}

extension Int {
    fileprivate var byteCount: ByteCount {
        get { ByteCount(self) }
        set { self = newValue.bytes }
    }
}
