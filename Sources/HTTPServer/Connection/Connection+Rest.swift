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
            case .readingHead: deadline.kind == .idle || deadline.kind == .header || deadline.kind == .taking
            case .readingContent: deadline.kind == .body
            // It has its last answer, and has not ended its side.
            case .closing: deadline.kind == .linger
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
            case .header, .answer: loop.times.header
            }
        return deadline.at &- time
    }

    /// Bytes that the socket has taken and the client's host has not.
    var bytesOnTheWay: Int { Int(max(0, linux_unacknowledged(socket))) }

    /// Ends the connection after what is on its way; at once when it is idle, or only waits for the client's own end.
    func drain() {
        switch phase {
        case .readingHead where rest.isEmpty && pending.isEmpty: endInOrder()
        case .closing where deadline.kind == .linger && bytesOnTheWay == 0: close()
        default: return
        }
    }

    /// Ends a connection whose answers have all been sent.
    func endInOrder() {
        guard bytesOnTheWay > 0 else { return close() }
        phase = .closing
        finishClosing()
    }

    /// The last answer has been sent: says so, and waits for the client's own end.
    func finishClosing() {
        guard !endOfInput else { return close() }
        guard deadline.kind != .linger else { return }
        shutdown(socket, CInt(SHUT_WR))
        untaken = bytesOnTheWay
        deadline = (.linger, loop.now + loop.times.linger)
        if !isEnlisted { loop.enlist(self) }
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
        case .idle where isBehind: deadline = (.taking, loop.now + loop.times.write)
        case .taking where !isBehind: deadline = (.idle, loop.now + loop.times.idle)
        case .taking where taken >= loop.times.leastTaken:
            deadline = (.taking, loop.now + loop.times.write)
        case .taking:
            loop.reject(.writeTimeout)
            close()
        default: close()
        }
    }
}
