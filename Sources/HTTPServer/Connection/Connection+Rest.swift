// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Connections that nothing is being made for, and how they end: never while an answer is still on its way in the kernel, since
/// bytes that come in after close(2) make it reset the connection, and the client loses what it has not read.
extension Connection {
    /// Whether a connection can be ended without harm.
    enum Idleness {
        /// Something is being made or sent.
        case busy
        /// All has been sent, and not all has reached the client's host.
        case untaken
        /// It waits for a request, or for the rest of one, and all that was asked before has arrived.
        case idle
    }

    /// Whether it can be ended for another's sake.
    var idleness: Idleness {
        guard !isRestricted, pending.isEmpty else { return .busy }
        let waits =
            switch phase {
            case .readingHead:
                switch deadline.kind {
                case .idle, .header, .taking, .lastRequest: true
                case .body, .answer, .linger: false
                }
            case .readingContent: deadline.kind == .body
            // It has its last answer, and has not ended its side.
            case .closing: deadline.kind == .linger || deadline.kind == .taking
            case .awaitingAnswer, .streaming, .closed: false
            }
        guard waits else { return .busy }
        return hasServed && bytesOnTheWay > 0 ? .untaken : .idle
    }

    /// Since when an idle connection has been waiting, in the clock of `deadline`.
    var idleSince: UInt64 {
        let time =
            switch deadline.kind {
            case .idle: loop.times.idle
            case .body: loop.times.body
            case .taking: loop.times.write
            case .linger: loop.times.linger
            case .lastRequest: loop.times.drainGrace
            case .header, .answer: loop.times.header
            }
        return deadline.at &- time
    }

    /// Bytes that the socket has taken and the client's host has not; the end of this side is counted as one by TCP, and is none.
    var bytesOnTheWay: Int { max(0, Int(linux_unacknowledged(socket)) - (hasFinishedSending ? 1 : 0)) }

    /// The server drains: a connection that asks for nothing has a little time left to ask, and what is on its way to a client
    /// has no more time than it had before.
    func drain() {
        switch phase {
        case .readingHead where rest.isEmpty && pending.isEmpty: awaitLastRequest()
        case .closing where deadline.kind == .taking: deadline = (.linger, loop.now + loop.times.linger)
        case .closing where deadline.kind == .linger && bytesOnTheWay == 0:
            deadline.at = min(deadline.at, loop.now + loop.times.drainLinger)
        default: return
        }
    }

    /// Waits for the last request that the server takes: one that was sent before the client can know that it drains.
    func awaitLastRequest() {
        guard deadline.kind != .lastRequest else { return }
        deadline = (.lastRequest, loop.now + loop.times.drainGrace)
    }

    /// Ends a connection of a server that drains, unless a request has come in.
    func endUnlessAsked() {
        readNow()
        guard case .readingHead = phase, rest.isEmpty, pending.isEmpty else { return }
        phase = .closing
        finishClosing()
    }

    /// The last answer has been sent: says so, and waits for the client's own end, and until its host has all.
    func finishClosing() {
        guard !hasFinishedSending else { return }
        guard !endOfInput || bytesOnTheWay > 0 else { return close() }
        // A request that comes in now is not answered, and its client hears an orderly end, not a reset (RFC 9112 §9.6).
        shutdown(socket, CInt(SHUT_WR))
        hasFinishedSending = true
        untaken = bytesOnTheWay
        let isIdle = loop.isDraining && untaken == 0
        deadline = (.linger, loop.now + (isIdle ? loop.times.drainLinger : loop.times.linger))
        if !isEnlisted { loop.enlist(self) }
    }

    /// The client has ended its side as well: what the kernel still has for it is not left to the kernel alone.
    func finishBothSides() {
        endOfInput = true
        phase = .closing
        guard pending.isEmpty else { return }
        guard bytesOnTheWay > 0 else { return close() }
        finishClosing()
    }

    /// Whether nothing is left to wait for: its client's host has all, and the client has ended its side, or has had time to.
    var isOver: Bool {
        guard case .closing = phase, hasFinishedSending, endOfInput || deadline.kind == .taking else {
            return false
        }
        return bytesOnTheWay == 0
    }

    /// Whether it has its last answer, and only waits for the client's own end.
    var isLingering: Bool {
        guard case .closing = phase else { return false }
        return deadline.kind == .linger
    }

    /// The time of a connection is over that has nothing to do any more, unless its client still takes what it was sent: as
    /// much as is asked of those that are behind.
    func closeUnlessUntaken() {
        let left = bytesOnTheWay
        let (isBehind, taken) = (left > 0, untaken - left)
        untaken = left
        switch deadline.kind {
        case .linger where isBehind && taken >= loop.times.leastTakenLingering:
            deadline = (.linger, loop.now + loop.times.linger)
        // Whoever drains leaves the rest to the kernel, which has it when the process has ended as well.
        case .linger where isBehind && !loop.isDraining, .idle where isBehind:
            deadline = (.taking, loop.now + loop.times.write)
        case .taking where !isBehind: deadline = (.idle, loop.now + loop.times.idle)
        case .taking where taken >= loop.times.leastTaken:
            deadline = (.taking, loop.now + loop.times.write)
        case .taking:
            loop.reject(.writeTimeout)
            resetOnClose()
            close()
        default: close()
        }
    }

    /// Has close(2) reset the connection, so that the kernel frees what it still has for the client.
    func resetOnClose() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(
            socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    }
}
