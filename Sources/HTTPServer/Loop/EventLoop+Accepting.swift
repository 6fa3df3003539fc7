// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

extension EventLoop {
    /// What taking connections from a backlog has come to.
    enum Intake {
        /// None is left.
        case isEmpty
        /// There may be more: others have their turn first.
        case mayHaveMore
        /// Those that are left have to wait for descriptors.
        case lacksDescriptors
    }

    /// Takes connections from a listener's backlog, some at a time.
    func accept(from number: Int) {
        guard number < acceptor.listeners.count else { return }
        accept(from: acceptor.listeners[number])
    }

    /// Takes all connections from a listener's backlog that there are descriptors for; whether those were all.
    @discardableResult
    func acceptAll(from listener: Listener) -> Bool {
        while true {
            switch accept(from: listener) {
            case .isEmpty: return true
            case .mayHaveMore: continue
            case .lacksDescriptors: return false
            }
        }
    }

    @discardableResult
    private func accept(from listener: Listener) -> Intake {
        var isShort = false
        var mayBeFreed = true
        let scarce = DescriptorReserve.firstScarceNumber
        for _ in 0..<Acceptor.batch {
            switch listener.accept() {
            case .connection(let socket, let peer) where socket < scarce:
                admit(Newcomer(socket: socket, peer: peer, isWithoutDescriptor: isShort))
            case .connection(let socket, let peer):
                if mayBeFreed, configuration.freeDescriptors() {
                    mayBeFreed = false
                    if let lower = Self.renumbered(socket, below: scarce) {
                        admit(Newcomer(socket: lower, peer: peer, isWithoutDescriptor: false))
                        continue
                    }
                }
                admit(Newcomer(socket: socket, peer: peer, isWithoutDescriptor: true))
            case .none:
                if isShort { reserve.refill() }
                return .isEmpty
            case .outOfDescriptors:
                // accept4 wants a descriptor before it looks whether anybody waits.
                guard listener.isAwaited else {
                    reserve.refill()
                    return .isEmpty
                }
                if mayBeFreed, configuration.freeDescriptors() {
                    mayBeFreed = false
                    continue
                }
                isShort = true
                // Once nothing is kept back any more, those leave who had what was.
                guard reserve.release() || evictRestricted() && reserve.release() else {
                    rest(listener)
                    return .lacksDescriptors
                }
            }
        }
        return .mayHaveMore
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

    // MARK: - Places

    /// Finds a place for a client, here or by asking the other loops, one after the other: first for somebody idle, of whom
    /// none may keep others out, then for a connection of a client that has more than its share, then for somebody with one
    /// of the places that are kept back. A loop that drains asks none: what it hands over might reach the other one when that
    /// has ended.
    func admit(_ newcomer: Newcomer) {
        var newcomer = newcomer
        newcomer.loopsAsked += 1
        let loops = balance.count
        if !newcomer.isWithoutDescriptor {
            if newcomer.loopsAsked <= loops || isDraining {
                if hasOrdinaryPlace(for: newcomer.peer) { return place(newcomer, .ordinary) }
                if newcomer.loopsAsked < loops, !isDraining { return passOn(newcomer) }
            }
            if newcomer.loopsAsked <= 2 * loops || isDraining,
                let client = tally.largestClient(givingWayTo: newcomer.peer)
            {
                if takePlace(of: client, for: newcomer.peer) { return place(newcomer, .ordinary) }
                if newcomer.loopsAsked < 2 * loops, !isDraining { return passOn(newcomer) }
            }
        }
        newcomer.loopsAsked = max(newcomer.loopsAsked, 2 * loops)
        if hasVitalPlace(for: &newcomer) { return place(newcomer, .restricted) }
        if newcomer.loopsAsked < 3 * loops, !isDraining { return passOn(newcomer) }
        tally.reject(newcomer.isWithoutDescriptor ? .outOfDescriptors : .tooManyConnections)
        Listener.refuse(newcomer.socket)
    }

    private func passOn(_ newcomer: Newcomer) {
        balance.inbox(of: (index + 1) % balance.count).post(.newcomer(newcomer))
    }

    private func hasOrdinaryPlace(for peer: PeerAddress) -> Bool {
        let limit = configuration.maxConnections
        return tally.enter(.ordinary, of: peer, limit: limit)
            || evictIdle(for: peer) && tally.enter(.ordinary, of: peer, limit: limit)
    }

    /// Resets a connection of the client that has more than its share, and gives its place to another client's: the oldest
    /// of those that are behind in taking an answer, else the oldest. False when this loop has none of that client.
    private func takePlace(of client: PeerAddress, for peer: PeerAddress) -> Bool {
        let own = connections.all.filter { !$0.isRestricted && tally.client($0.peer) == client }
        let late = own.filter { !$0.pending.isEmpty }
        guard let oldest = (late.isEmpty ? own : late).min(by: { $0.acceptedAt < $1.acceptedAt }) else {
            return false
        }
        // Counted in before the other is counted out: no other loop takes the place in between.
        _ = tally.enter(.ordinary, of: peer, limit: .max)
        oldest.resetOnClose()
        return evict(oldest)
    }

    /// Whether there is one of the places that are kept back, with a descriptor that was kept back where there is no other.
    private func hasVitalPlace(for newcomer: inout Newcomer) -> Bool {
        repeat {
            let limit = configuration.reservedConnections
            guard tally.enter(.restricted, of: newcomer.peer, limit: limit) else { continue }
            if !newcomer.isWithoutDescriptor { return true }
            // A socket takes its place in one step: nobody else gets the number in between.
            if let number = reserve.take() {
                if linux_dup3(newcomer.socket, number, O_CLOEXEC) >= 0 {
                    close(newcomer.socket)
                    newcomer.socket = number
                    return true
                }
                close(number)
            }
            tally.retract(.restricted, of: newcomer.peer)
        } while evictRestricted()
        return false
    }

    private func place(_ newcomer: Newcomer, _ kind: ServerTally.Kind) {
        configuration.connectionsChanged(1)
        let (socket, peer, isRestricted) = (newcomer.socket, newcomer.peer, kind == .restricted)
        let owner = isDraining ? balance.take(at: index) : balance.take(preferring: index)
        if owner == index {
            adopt(socket, peer, isRestricted: isRestricted)
        } else {
            balance.inbox(of: owner).post(.connection(socket, peer, isRestricted: isRestricted))
        }
    }

    /// Whether a vital request may have a task make its answer: half of the places that are kept back, over all loops, stay
    /// for those that are answered at once.
    var mayAwaitVital: Bool {
        let awaiting = restricted.count { connections[$0]?.isAwaited ?? false }
        return awaiting < max(1, configuration.reservedConnections / (2 * balance.count))
    }

    /// Ends a connection with a place that is kept back: the oldest that has its answer, else the oldest that has not asked for
    /// anything, else the oldest that does not take its answer. The places are for health checks, which ask at once, and no flood may keep
    /// them.
    private func evictRestricted() -> Bool {
        restricted.removeAll { connections[$0] == nil }
        var silent: Connection?
        for number in restricted {
            guard let connection = connections[number] else { return true }
            // What it asks for may have come since.
            connection.readNow()
            guard !connection.isClosed else { return true }
            guard connection.mayBeEvicted else { continue }
            if connection.hasServed { return evict(connection) }
            silent = silent ?? connection
        }
        if let silent { return evict(silent) }
        let unread = restricted.lazy.compactMap { self.connections[$0] }.first { !$0.isAwaited }
        return unread.map(evict) ?? false
    }

    private func evict(_ connection: Connection) -> Bool {
        // Whoever has an answer, and only waits for the end of the connection, loses nothing.
        let hasAll = connection.hasServed && connection.mayBeEvicted
        if !hasAll || !connection.isRestricted && !connection.isLingering {
            tally.reject(.evicted)
        }
        connection.cut()
        return true
    }

    /// At the limit, ends the connection that has waited longest among some that nothing is being made for: one that has its
    /// answers, has asked for nothing yet, or is slow to ask. No flood of such keeps others out.
    private func evictIdle(for peer: PeerAddress) -> Bool {
        for _ in 0..<Self.evictionAttempts {
            guard let oldest = oldestIdle(for: peer) else { return false }
            // What it asks for may have come since.
            oldest.isEnlisted = false
            oldest.readNow()
            guard !oldest.isClosed else { return true }
            if mayLeave(oldest) { return evict(oldest) }
        }
        return false
    }

    /// So often somebody turns out to be about to ask.
    private static var evictionAttempts: Int { 4 }

    /// The connection that has waited longest of some that may be idle; only where there is none of those, of some that have not
    /// taken their answers for a while. None that is kept from this peer.
    private func oldestIdle(for peer: PeerAddress) -> Connection? {
        let (largest, client) = (tally.largestClient, tally.client(peer))
        var (idlers, laggards): ([Connection], [Connection]) = ([], [])
        for _ in 0..<idle.count where idlers.count + laggards.count < Self.evictionSample {
            guard let number = idle.popFirst() else { break }
            guard let connection = connections[number] else { continue }
            switch connection.idleness {
            case .busy: connection.isEnlisted = false
            case .untaken: laggards.append(connection)
            case .idle: idlers.append(connection)
            }
        }
        let late = laggards.filter(mayLeave)
        let oldest = (idlers.isEmpty ? late : idlers).lazy
            .filter { [self] in !isKept($0, from: client, while: largest) }
            .min { $0.idleSince < $1.idleSince }
        for connection in idlers + laggards where connection !== oldest { enlist(connection) }
        return oldest
    }

    /// Whether a connection keeps its place though it is idle, because a client has more than its share: new connections of
    /// that client close its own alone, and those of others close none that has just come and is about to ask.
    private func isKept(
        _ connection: Connection, from client: PeerAddress?, while largest: PeerAddress?
    ) -> Bool {
        guard let largest, tally.client(connection.peer) != largest else { return false }
        return client == largest || !connection.hasServed && now < connection.acceptedAt + times.linger
    }

    /// Whether a connection may be ended for another's sake: one whose answer is still on its way has some time for it, and
    /// the kernel goes on sending it afterwards.
    private func mayLeave(_ connection: Connection) -> Bool {
        switch connection.idleness {
        case .busy: false
        case .untaken: now >= connection.idleSince + times.linger
        case .idle: true
        }
    }

    /// Most idle connections compared to find one to end: enough that it is one of the oldest.
    private static var evictionSample: Int { 64 }

    /// Notes a connection that may be idle from now on.
    func enlist(_ connection: Connection) {
        connection.isEnlisted = true
        idle.append(connection.number, living: connections.count) { self.connections[$0] != nil }
    }

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
            connection.isEnlisted = true
        } else {
            enlist(connection)
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
