// SPDX-License-Identifier: Apache-2.0

import Glibc

@testable import HTTPServer

/// A connection's state machine with a clock, a socket and a client that a test controls; records its
/// actions.
///
/// The client reads everything that it is sent, at once, unless a test says otherwise.
final class TestConnection: ConnectionDriver {
    let context: ConnectionContext
    private var machine: ConnectionStateMachine
    private(set) var now: UInt64 = 1_000_000_000
    /// How long the loop takes for each answer, in nanoseconds.
    var answerTime: UInt64 = 0
    var time: UInt64 { now + UInt64(context.queue.answers) * answerTime }
    /// How often the connection has had its turn.
    private(set) var turns = 0
    private var isPostponed = false

    /// Octets that the client has sent and the machine has not read.
    private var unread: [UInt8] = []
    private var hasClientEnded = false
    /// How many more octets the socket takes.
    private(set) var room = Int.max
    /// What the socket has taken.
    private(set) var sent: [UInt8] = []
    /// Whether the client's host acknowledges what the socket has taken.
    private var isAcknowledging = true
    private var acknowledged = 0
    /// Whether the client's host answers octets with a reset, and whether it has been sent any.
    private var (hasClientLeft, isResetDue) = (false, false)

    private(set) var hasFinishedSending = false
    private(set) var isReset = false
    private(set) var closings = 0
    private(set) var rejections: [HTTPServer.RejectionReason] = []
    private(set) var exchanges: [HTTPExchange] = []
    /// The task that is running, and the number of its answer.
    private(set) var task: UInt64?
    private(set) var cancelledTasks = 0
    private(set) var wakes = 0

    init(
        _ configuration: HTTPServer.Configuration = .init(), isRestricted: Bool = false,
        respond: @escaping @Sendable (HTTPRequest) -> HTTPAnswer = { .now(text($0.target)) }
    ) {
        let handler = TestServer.Handler(respond: respond, finished: { _ in })
        context = ConnectionContext(configuration, handler: handler, loopIndex: 0)
        machine = ConnectionStateMachine(.v4(0x7F00_0001), isRestricted: isRestricted, at: now, context)
    }

    // MARK: - The client

    /// The client sends octets.
    func send(_ text: String) {
        unread += text.utf8
        proceed()
    }

    /// The client half-closes.
    func endClientSide() {
        hasClientEnded = true
        machine.halfClose()
        proceed()
    }

    /// The client closes: its host answers what is sent to it with a reset.
    func leave() {
        hasClientLeft = true
        endClientSide()
    }

    /// The client resets the connection.
    func reset() { machine.reset(self) }

    /// The socket takes so many octets more; those that it has are not acknowledged.
    func stopTaking(after count: Int = 0) {
        room = count
        isAcknowledging = false
        acknowledged = sent.count
    }

    /// The client's host acknowledges some of the octets that the socket has taken; the socket has space for
    /// as many more.
    func take(_ count: Int) {
        acknowledged = min(sent.count, acknowledged + count)
        room += count
        machine.writable(at: now, self)
        proceed()
    }

    /// The client reads everything that there is, and all that follows.
    func takeAll() {
        (room, isAcknowledging) = (Int.max, true)
        machine.writable(at: now, self)
        proceed()
    }

    // MARK: - The server

    /// The running task returns its response.
    func respond(_ response: HTTPResponse) {
        if let task { deliver(response, answerNumber: task) }
    }

    /// A task returns the response to an answer, however late.
    func deliver(_ response: HTTPResponse, answerNumber: UInt64) {
        if machine.deliver(response, answerNumber: answerNumber, at: now, self) { proceed() }
    }

    /// A streamed body has more bytes.
    func wakeStream() { if machine.wake(at: now, self) { proceed() } }

    /// The server begins to drain.
    func drain() {
        context.isDraining = true
        machine.drain(at: now, self)
    }

    /// Time passes, and the deadlines are checked.
    func pass(_ time: Duration) {
        now += UInt64(time.components.seconds) * 1_000_000_000
        now += UInt64(time.components.attoseconds / 1_000_000_000)
        switch machine.checkDeadline(at: now, self) {
        case .done where isResetDue && !isClosed: machine.reset(self)
        case .done: return
        case .resume: proceed()
        case .endUnlessRequested:
            proceed()
            machine.endUnlessRequested(self)
        }
    }

    /// Nothing happens before `time` is over, and something at that moment: returns whether `condition` held
    /// before, and holds then.
    func changes(at time: Duration, _ condition: (TestConnection) -> Bool) -> [Bool] {
        pass(time - .nanoseconds(1))
        let before = condition(self)
        pass(.nanoseconds(1))
        return [before, condition(self)]
    }

    // MARK: - Results

    var isClosed: Bool { machine.phase == .closed }
    var hasTask: Bool { task != nil }
    var received: String { String(decoding: sent, as: UTF8.self) }

    /// The status codes of the responses that were sent.
    var statuses: [Int] {
        received.split(separator: "HTTP/1.1 ").compactMap { Int($0.prefix(3)) }
    }

    /// Does what the loop does with a connection until there is nothing left to do.
    private func proceed() {
        repeat {
            isPostponed = false
            turns += 1
            guard machine.resume(at: now, self) else {
                isPostponed = true
                continue
            }
            if machine.takesInput {
                let bytes = unread
                unread = []
                if !bytes.isEmpty {
                    bytes.withUnsafeBytes { machine.receive($0, at: now, self) }
                    if !machine.consumeStored(self) { isPostponed = true }
                }
                if machine.takesInput, unread.isEmpty, hasClientEnded { machine.endInput() }
            }
            if !isPostponed { machine.finishInput(self) }
        } while isPostponed && !isClosed
        if isResetDue, !isClosed { machine.reset(self) }
    }

    // MARK: - ConnectionDriver

    var unacknowledgedOctets: Int {
        isAcknowledging ? 0 : sent.count - acknowledged + (hasFinishedSending ? 1 : 0)
    }

    var isAtEndOfInput: Bool { hasClientEnded && unread.isEmpty }
    func finishSending() { hasFinishedSending = true }
    func resetOnClose() { isReset = true }
    func close() { closings += 1 }
    func postpone() { isPostponed = true }
    func enlist() {}
    var mayStartVitalTask: Bool { true }
    func startTask(_ work: @escaping @Sendable () async -> HTTPResponse, answerNumber: UInt64) {
        task = answerNumber
    }
    func finishTask() { task = nil }

    func cancelTask() {
        task = nil
        cancelledTasks += 1
    }

    var wake: @Sendable () -> Void { {} }
    func reject(_ reason: HTTPServer.RejectionReason) { rejections.append(reason) }
    func report(_ exchange: inout HTTPExchange) { exchanges.append(exchange) }

    func send(_ pieces: inout SendQueue.Vectors, _ count: Int, hasMore: Bool) -> SendResult {
        isResetDue = hasClientLeft
        guard room > 0 else { return .blocked }
        var taken = 0
        for index in 0..<count {
            let length = min(pieces[index].iov_len, room - taken)
            sent += UnsafeRawBufferPointer(start: pieces[index].iov_base, count: length)
            taken += length
        }
        if room < Int.max { room -= taken }
        return .took(taken)
    }

    func sendFile(_ file: CInt, _ range: Range<Int64>) -> SendResult {
        isResetDue = hasClientLeft
        guard room > 0 else { return .blocked }
        var bytes = [UInt8](repeating: 0, count: min(range.count, room))
        let count = pread(file, &bytes, bytes.count, off_t(range.lowerBound))
        guard count >= 0 else { return .failed }
        sent += bytes[..<count]
        if room < Int.max { room -= count }
        return .took(count)
    }
}

extension TestConnection: CustomReflectable {
    /// An expectation that fails does not print all octets.
    var customMirror: Mirror {
        Mirror(self, children: ["received": received.prefix(200), "exchanges": exchanges.count])
    }
}

extension HTTPExchange {
    /// The facts that tests compare.
    var summary: String { "\(status.code) \(bodyBytesSent)\(wasCut ? " cut" : "")" }
}
