// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

extension EventLoop {
    /// Takes connections from a listener's backlog, some at a time.
    func accept(_ number: Int) {
        guard number < acceptor.listeners.count else { return }
        let listener = acceptor.listeners[number]
        var isShort = false
        var mayBeFreed = true
        let scarce = DescriptorReserve.firstScarceNumber
        for _ in 0..<Acceptor.batch {
            switch listener.accept() {
            case .connection(let socket, let peer) where socket < scarce:
                admit(socket, peer, isRestricted: isShort)
            case .connection(let socket, let peer):
                if mayBeFreed, configuration.freeDescriptors() {
                    mayBeFreed = false
                    if let lower = Self.renumbered(socket, below: scarce) {
                        admit(lower, peer, isRestricted: isShort)
                        continue
                    }
                }
                isShort = true
                guard reserve.release() || evictRestricted(),
                    let lower = Self.renumbered(socket, below: scarce)
                else {
                    close(socket)
                    return rest(listener)
                }
                admit(lower, peer, isRestricted: true)
            case .none:
                if isShort { reserve.refill() }
                return
            case .outOfDescriptors:
                // accept4 wants a descriptor before it looks whether anybody waits.
                guard listener.isAwaited else { return reserve.refill() }
                if mayBeFreed, configuration.freeDescriptors() {
                    mayBeFreed = false
                    continue
                }
                isShort = true
                // Once nothing is kept back any more, those leave who had what was, and ask for nothing.
                guard reserve.release() || evictRestricted() else { return rest(listener) }
            }
        }
    }

    /// The same socket under a number that has become free; nil, and as it was, when there is none that low.
    private static func renumbered(_ socket: CInt, below limit: CInt) -> CInt? {
        let lower = linux_duplicate(socket)
        guard lower >= 0 else { return nil }
        guard lower < limit else {
            close(lower)
            return nil
        }
        close(socket)
        return lower
    }

    /// Nothing is left, not even what was kept back, and nobody can be sent away: the backlog waits until some have come
    /// back.
    private func rest(_ listener: Listener) {
        tally.reject(.outOfDescriptors)
        unwatch(listener)
        acceptor.rest(listener, until: now + Acceptor.pause)
        timer.start()
    }

    private func admit(_ socket: CInt, _ peer: PeerAddress, isRestricted: Bool) {
        let limit = configuration.maxConnections
        let most = limit + configuration.reservedConnections
        guard let count = tally.opened(limit: most) ?? (evictRestricted() ? tally.opened(limit: most) : nil)
        else {
            tally.reject(.tooManyConnections)
            return Listener.refuse(socket)
        }
        configuration.connectionsChanged(1)
        let isRestricted = isRestricted || count > limit && !evictIdle()
        let owner = balance.take(preferring: index)
        if owner == index {
            adopt(socket, peer, isRestricted: isRestricted)
        } else {
            balance.inbox(of: owner).post(.connection(socket, peer, isRestricted: isRestricted))
        }
    }

    /// Ends the oldest connection above the limit, or with a descriptor that was kept back, that has not asked for anything
    /// or has its answer: the places are for health checks, which ask at once, and no flood may keep them.
    private func evictRestricted() -> Bool {
        while !restricted.isEmpty {
            guard let connection = connections[restricted.removeFirst()] else { continue }
            // What it asks for may have come since.
            connection.readNow()
            guard !connection.isClosed else { return true }
            guard connection.mayBeEvicted else { continue }
            // Whoever has an answer, and only waits for the end of the connection, loses nothing.
            if !connection.hasServed { tally.reject(.evicted) }
            connection.cut()
            return true
        }
        return false
    }

    /// At the limit, ends the connection that has waited longest among some that nothing is being made for: one that has its
    /// answers, has asked for nothing yet, or is slow to ask. No flood of such keeps others out.
    private func evictIdle() -> Bool {
        var oldest: Connection?
        for _ in 0..<Self.evictionSample {
            guard let connection = connections.next(), connection.isIdle else { continue }
            if oldest.map({ connection.idleSince < $0.idleSince }) ?? true { oldest = connection }
        }
        guard let oldest else { return false }
        // What it asks for may have come since.
        oldest.readNow()
        guard !oldest.isClosed, oldest.isIdle else { return oldest.isClosed }
        tally.reject(.evicted)
        oldest.cut()
        return true
    }

    /// Most connections looked at to find one to end: enough that it is one of the oldest.
    private static var evictionSample: Int { 64 }

    /// Makes a connection this loop's.
    func adopt(_ socket: CInt, _ peer: PeerAddress, isRestricted: Bool) {
        let connection = connections.insert { number in
            Connection(number: number, socket: socket, peer: peer, isRestricted: isRestricted, loop: self)
        }
        if isRestricted {
            if restricted.count >= 2 * configuration.reservedConnections {
                restricted.removeAll { connections[$0] == nil }
            }
            restricted.append(connection.number)
        }
        timer.start()
        let events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        do throws(SocketError) {
            try watch(socket, connection.number, events)
        } catch {
            connection.cut()
        }
        if isDraining { connection.drain() }
    }
}
