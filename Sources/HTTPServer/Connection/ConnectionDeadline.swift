// SPDX-License-Identifier: Apache-2.0

/// What a connection waits for, and until when. While an answer is being sent, `WritePace` counts instead.
struct ConnectionDeadline {
    enum Kind: CaseIterable {
        /// The first octet of the next request.
        case idle
        /// The first octet of the first request, or the rest of a head.
        case header
        /// The rest of a request's content.
        case body
        /// The response of a task, or the next piece of a streamed body.
        case answer
        /// The client's FIN after the last answer.
        case linger
        /// The acknowledgement, by the client's host, of what the kernel holds of the answers.
        case acknowledgement
        /// A request that the client sent before it could know that the server drains.
        case lastRequest
    }

    /// The fate of an idle or closing connection whose deadline has passed.
    enum Verdict {
        case wait, close
        /// The client has read too little.
        case reset
    }

    private(set) var kind: Kind
    private(set) var at: UInt64
    /// Octets that were not acknowledged at the last check.
    private var unacknowledged = 0

    init(_ kind: Kind, at: UInt64) {
        self.kind = kind
        self.at = at
    }

    /// Hot path: starts a wait, with the deadline of its kind.
    @inline(__always)
    mutating func start(_ kind: Kind, at now: UInt64, _ times: LoopTimes) {
        self.kind = kind
        at = now + times.limit(of: kind)
    }

    /// Starts to wait for the client's FIN; `left` octets have yet to be acknowledged.
    mutating func startLinger(unacknowledged left: Int, isDraining: Bool, at now: UInt64, _ times: LoopTimes)
    {
        unacknowledged = left
        start(.linger, at: now, times)
        if isDraining { shortenLinger(unacknowledged: left, at: now, times) }
    }

    /// A draining server waits less for clients that have received all of their last answer.
    mutating func shortenLinger(unacknowledged left: Int, at now: UInt64, _ times: LoopTimes) {
        if left == 0 { at = min(at, now + times.drainLinger) }
    }

    /// Starts to wait for the last request, unless that has begun.
    mutating func startLastRequest(at now: UInt64, _ times: LoopTimes) {
        if kind != .lastRequest { start(.lastRequest, at: now, times) }
    }

    /// When the connection began to wait.
    func begin(_ times: LoopTimes) -> UInt64 { at &- times.limit(of: kind) }

    /// Decides about an idle or closing connection at its deadline: it stays while the client's host still
    /// acknowledges octets, at the lowest rate of slow clients.
    mutating func expire(
        unacknowledged left: Int, isDraining: Bool, at now: UInt64, _ times: LoopTimes
    ) -> Verdict {
        let acknowledged = unacknowledged - left
        unacknowledged = left
        switch kind {
        case .linger where left > 0 && acknowledged >= times.leastTakenLingering:
            start(.linger, at: now, times)
        // A draining server leaves the rest to the kernel, which keeps sending it after the process has
        // exited.
        case .linger where left > 0 && !isDraining, .idle where left > 0:
            start(.acknowledgement, at: now, times)
        case .acknowledgement where left == 0: start(.idle, at: now, times)
        case .acknowledgement where acknowledged >= times.leastTaken:
            start(.acknowledgement, at: now, times)
        case .acknowledgement: return .reset
        case .idle, .linger, .header, .body, .answer, .lastRequest: return .close
        }
        return .wait
    }
}

extension LoopTimes {
    /// The maximum duration of each kind of wait.
    @inline(__always)
    func limit(of kind: ConnectionDeadline.Kind) -> UInt64 {
        switch kind {
        case .idle: idle
        case .header: header
        case .body: body
        case .answer: request
        case .linger: linger
        case .acknowledgement: write
        case .lastRequest: drainGrace
        }
    }
}
