// SPDX-License-Identifier: Apache-2.0

extension HTTPServer {
    /// Every bound of the server.
    public struct Configuration: Sendable {
        /// Event loops; one a core is right.
        public var loops = 1
        /// The first loop's number, as exchanges tell it: where several servers are counted together.
        public var firstLoop = 0
        /// Connections at once; beyond it 503, but for vital requests.
        public var maxConnections = 16_384
        /// Connections above `maxConnections` for vital requests; beyond it 503 unread.
        public var reservedConnections = 16
        /// Descriptors kept back for them, as far as there are so many of them.
        public var reservedDescriptors = 16
        /// From a head's first byte to its last; beyond it 408.
        public var headerTimeout = Duration.seconds(10)
        /// A connection without a request; beyond it closed.
        public var idleTimeout = Duration.seconds(75)
        /// From a head's end to its content's; beyond it 408.
        public var bodyTimeout = Duration.seconds(30)
        /// An answer that waits for its client; the connection is cut when the client has not taken `minSendRate` of such a
        /// time after two of them.
        public var writeTimeout = Duration.seconds(60)
        /// Bytes a second that a client takes at least, averaged over `writeTimeout`; with 0 a single byte is enough.
        public var minSendRate = 256
        /// The client's end behind the last answer, and the first head of a connection beyond `maxConnections`; beyond it
        /// closed. Also the pause before a client that has ended its side is sent the next octet of its answer's head.
        public var closeTimeout = Duration.seconds(2)
        /// A request on a connection that asks for nothing when the server drains; beyond it the server ends its side, and
        /// closes the connection when the client has ended its own, after half of this time at the latest.
        public var drainGrace = Duration.seconds(1)
        /// A handler's task; beyond it 503, and the task is cancelled. Also the next bytes of a body that arrives over
        /// time; beyond it the connection is cut.
        public var requestTimeout = Duration.seconds(60)
        /// Bytes of a head; beyond it 431.
        public var maxHeaderBytes = 16_384
        /// Bytes of a target; beyond it 414.
        public var maxTargetBytes = 8_192
        /// Field lines of a head, and of the trailers behind chunked content; beyond it 431.
        public var maxFieldLines = 100
        /// Bytes of all chunk extensions of a request; beyond it 413.
        public var maxExtensionBytes = 4_096
        /// Bytes of the trailers behind chunked content; beyond it 431.
        public var maxTrailerBytes = 8_192
        /// Bytes of a request's content; beyond it 413.
        public var maxBodyBytes = 1 << 20
        /// Pipelined answers made ahead for a client before the first has left; beyond it the next request waits.
        public var maxPipelined = 64
        /// Bytes of answers made ahead for a client, but for the last; beyond it the next request waits.
        public var maxPipelinedBytes = 256 << 10
        /// How long a loop waits for the next event before it gives its thread back, in milliseconds.
        public var lingerMilliseconds = 5
        /// The same while answers are awaited from handlers' tasks.
        public var lingerWhileAwaitingMilliseconds = 1_000

        /// Told whenever a connection has come (1) or gone (−1); on any loop, must not block.
        public var connectionsChanged: @Sendable (Int) -> Void = { _ in }

        /// Asked on a loop for descriptors when none is left for a connection; false when it has closed none.
        public var freeDescriptors: @Sendable () -> Bool = { false }

        /// Which peers are proxies whose `X-Forwarded-For` is believed, and whose connections are not counted as one client's;
        /// none by default. The answer for a peer must not change.
        public var isTrustedProxy: @Sendable (PeerAddress) -> Bool = { _ in false }

        /// Half of `maxConnections`: at the limit, a client that has more gives one up to a client that has less.
        var clientShare: Int { maxConnections / 2 }

        /// The defaults.
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
                case .malformed, .unencodedTarget: .malformed
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
        /// Connections accepted so far.
        public var accepted = 0
        /// Refusals by reason.
        public var rejected: [RejectionReason: Int] = [:]
    }
}
