// SPDX-License-Identifier: Apache-2.0

extension HTTPServer {
    /// Every bound of the server.
    public struct Configuration: Sendable {
        /// Event loops; one a core is right.
        public var loops = 1
        /// The number of the first loop in exchanges, for several servers that are counted together.
        public var firstLoop = 0
        /// Connections at once; beyond it 503, except for vital requests.
        public var maxConnections = 16_384
        /// Connections above `maxConnections` for vital requests; beyond it 503 without reading.
        public var reservedConnections = 16
        /// Descriptors in reserve for them, as far as there are so many.
        public var reservedDescriptors = 16
        /// From a head's first byte to its last; beyond it 408.
        public var headerTimeout = Duration.seconds(10)
        /// A connection without a request; beyond it closed.
        public var idleTimeout = Duration.seconds(75)
        /// From a head's end to its content's; beyond it 408.
        public var bodyTimeout = Duration.seconds(30)
        /// An answer that the client has not read; the connection is cut when the client has read less than
        /// `minSendRate` in two such periods.
        public var writeTimeout = Duration.seconds(60)
        /// The minimum bytes a second that a client reads, averaged over `writeTimeout`; with 0 a single byte
        /// is enough.
        public var minSendRate = 256
        /// The client's FIN after the last answer, and the first head of a connection beyond
        /// `maxConnections`; beyond it closed. Also the pause before a half-closed client is sent the next
        /// octet of its answer's head.
        public var closeTimeout = Duration.seconds(2)
        /// A request on an idle connection when the server drains; beyond it the server half-closes, and
        /// closes the connection when the client has half-closed, after half of this time at the latest.
        public var drainGrace = Duration.seconds(1)
        /// A handler's task; beyond it 503, and the task is cancelled. Also the next bytes of a body that
        /// arrives over time; beyond it the connection is cut.
        public var requestTimeout = Duration.seconds(60)
        /// How much of a request is read.
        public var limits = RequestLimits()
        /// Pipelined answers made ahead for a client before the first has been sent; beyond it the next
        /// request waits.
        public var maxPipelined = 64
        /// Bytes of answers made ahead for a client, without the last one; beyond it the next request waits.
        public var maxPipelinedBytes = 256 << 10
        /// How long a loop waits for the next event before it returns its thread, in milliseconds.
        public var lingerMilliseconds = 5
        /// The same while answers are awaited from handlers' tasks.
        public var lingerWhileAwaitingMilliseconds = 1_000

        /// How often the times above are checked; less than a second.
        var checkInterval = Duration.milliseconds(250)

        /// Called whenever a connection has been accepted (1) or has ended (−1); on any loop, must not block.
        public var connectionsChanged: @Sendable (Int) -> Void = { _ in }

        /// Called on a loop when no descriptor is left for a connection, to close files; false if it has
        /// closed none.
        public var freeDescriptors: @Sendable () -> Bool = { false }

        /// Which peers are proxies whose `X-Forwarded-For` counts, and whose connections are not counted as
        /// those of one client; none by default. The result for a peer must not change.
        public var isTrustedProxy: @Sendable (PeerAddress) -> Bool = { _ in false }

        /// Half of `maxConnections`: at the limit, a client with more loses one to a client with less.
        var clientShare: Int { maxConnections / 2 }

        /// Creates the defaults.
        public init() {}
    }

    /// Why something was refused or cut.
    public enum RejectionReason: Int, Sendable, CaseIterable {
        case malformed, bodyTooLarge, targetTooLong, unknownExpectation, headTooLarge, notImplemented
        case versionNotSupported, misdirected
        case tooManyConnections, outOfDescriptors, overload, evicted
        case headerTimeout, bodyTimeout, writeTimeout, requestTimeout
        case brokenBody, reset, incomplete

        init(_ error: RequestError) {
            self =
                switch error {
                case .malformed, .missingHost, .unencodedTarget: .malformed
                case .bodyTooLarge: .bodyTooLarge
                case .targetTooLong: .targetTooLong
                case .unknownExpectation: .unknownExpectation
                case .headTooLarge: .headTooLarge
                case .notImplemented: .notImplemented
                case .versionNotSupported: .versionNotSupported
                case .misdirected: .misdirected
                }
        }
    }

    /// Numbers for the metrics.
    public struct Counts: Sendable {
        /// Connections now.
        public var connections = 0
        /// The maximum number of connections for any request.
        public var maxConnections = 0
        /// Connections accepted so far.
        public var accepted = 0
        /// Refusals by reason.
        public var rejected: [RejectionReason: Int] = [:]
    }
}
