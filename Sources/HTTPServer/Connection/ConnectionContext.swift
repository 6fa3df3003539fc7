// SPDX-License-Identifier: Apache-2.0

/// What the connections of a loop share: settings, the handler, and buffers that are empty between the turns
/// of two connections. Confined to its loop.
final class ConnectionContext {
    let configuration: HTTPServer.Configuration
    let times: LoopTimes
    let handler: any RequestHandling
    /// The loop's number in exchanges.
    let loop: Int
    /// Whether each answer is the last one of its connection.
    var isDraining = false
    var encoder = ResponseEncoder()
    /// The request that is being read or answered.
    var request = HTTPRequest()
    /// Answers of the connection that the loop serves at the moment.
    var queue = SendQueue()
    private var ids = RequestIDSource()

    init(_ configuration: HTTPServer.Configuration, handler: any RequestHandling, loopIndex: Int) {
        self.configuration = configuration
        self.handler = handler
        times = LoopTimes(configuration)
        loop = configuration.firstLoop + loopIndex
    }

    /// Whether part of the queue must be sent before the next request is answered.
    var isQueueFull: Bool {
        queue.answers >= configuration.maxPipelined || queue.octetsWaiting >= configuration.maxPipelinedBytes
    }

    /// Hot path: the client's id for a request when it is well-formed, else a new one.
    func id(of request: HTTPRequest) -> RequestID {
        guard request.has(known: .requestID) else { return newID() }
        let given = unsafe request.withFirstValue(ofKnown: .requestID) { unsafe RequestID($0) }
        return (given ?? nil) ?? newID()
    }

    /// A new id.
    func newID() -> RequestID { RequestID(ids.next()) }

    /// Hot path: the client of a request: the peer, or the address that trusted proxies report.
    func client(of request: HTTPRequest, _ peer: PeerAddress) -> PeerAddress {
        guard request.has(known: .xForwardedFor) else { return peer }
        return ForwardedClient.address(of: request, peer: peer, isTrusted: configuration.isTrustedProxy)
    }
}
