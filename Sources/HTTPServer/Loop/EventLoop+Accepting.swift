// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

extension EventLoop {
    /// Why no more connections were accepted from a backlog.
    enum AcceptResult {
        /// The backlog is empty.
        case isEmpty
        /// There may be more: other sockets have their turn first.
        case mayHaveMore
        /// The rest must wait for descriptors.
        case lacksDescriptors
    }

    /// Accepts some connections from a listener's backlog.
    func accept(from number: Int) {
        guard number < acceptor.listeners.count else { return }
        accept(from: acceptor.listeners[number])
    }

    /// Accepts all connections of a listener's backlog for which there are descriptors; returns whether those
    /// were all.
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
    private func accept(from listener: Listener) -> AcceptResult {
        var isShort = false
        var mayBeFreed = true
        let scarce = DescriptorReserve.firstScarceNumber
        for _ in 0..<Acceptor.batch {
            switch listener.accept() {
            case .connection(let socket, let peer) where socket < scarce:
                admit(AcceptedSocket(socket: socket, peer: peer, isWithoutDescriptor: isShort))
            case .connection(let socket, let peer):
                if mayBeFreed, configuration.freeDescriptors() {
                    mayBeFreed = false
                    if let lower = Self.renumbered(socket, below: scarce) {
                        admit(AcceptedSocket(socket: lower, peer: peer, isWithoutDescriptor: false))
                        continue
                    }
                }
                admit(AcceptedSocket(socket: socket, peer: peer, isWithoutDescriptor: true))
            case .none:
                if isShort { reserve.refill() }
                return .isEmpty
            case .outOfDescriptors:
                // accept4 needs a descriptor before it checks whether a connection waits.
                guard listener.hasConnection else {
                    reserve.refill()
                    return .isEmpty
                }
                if mayBeFreed, configuration.freeDescriptors() {
                    mayBeFreed = false
                    continue
                }
                isShort = true
                // When the reserve is empty, the connections that hold its descriptors are closed.
                guard reserve.release() || evictRestricted() && reserve.release() else {
                    pauseAccepting(listener)
                    return .lacksDescriptors
                }
            }
        }
        return .mayHaveMore
    }

    /// The same socket under a free number below the limit; nil, and the socket unchanged, if there is none.
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

    /// No descriptor is left, not even in the reserve, and no connection can be closed: the backlog waits
    /// until some are free.
    private func pauseAccepting(_ listener: Listener) {
        tally.reject(.outOfDescriptors)
        unwatch(listener)
        acceptor.pause(listener, until: now + Acceptor.pause)
        timer.start()
    }

    // MARK: - Limits

    /// Adopts a client, on this loop or by passing it to the other loops in turn, within the connection
    /// limit: it replaces an idle connection, else one of a client that has more than its share, else it
    /// takes a reserved connection. A draining loop passes it to no other: the other one might have ended
    /// when it arrives.
    func admit(_ accepted: AcceptedSocket) {
        var accepted = accepted
        accepted.loopsTried += 1
        let loops = balance.count
        if !accepted.isWithoutDescriptor {
            if accepted.loopsTried <= loops || context.isDraining {
                if takesOrdinary(for: accepted.peer) { return place(accepted, .ordinary) }
                if accepted.loopsTried < loops, !context.isDraining { return passOn(accepted) }
            }
            if accepted.loopsTried <= 2 * loops || context.isDraining,
                let client = tally.largestClient(givingWayTo: accepted.peer)
            {
                if replaceConnection(of: client, for: accepted.peer) { return place(accepted, .ordinary) }
                if accepted.loopsTried < 2 * loops, !context.isDraining { return passOn(accepted) }
            }
        }
        accepted.loopsTried = max(accepted.loopsTried, 2 * loops)
        if takesVital(for: &accepted) { return place(accepted, .restricted) }
        if accepted.loopsTried < 3 * loops, !context.isDraining { return passOn(accepted) }
        tally.reject(accepted.isWithoutDescriptor ? .outOfDescriptors : .tooManyConnections)
        Listener.refuse(accepted.socket)
    }

    private func passOn(_ accepted: AcceptedSocket) {
        balance.inbox(of: (index + 1) % balance.count).post(.accepted(accepted))
    }

    private func takesOrdinary(for peer: PeerAddress) -> Bool {
        let limit = configuration.maxConnections
        return tally.enter(.ordinary, of: peer, limit: limit)
            || evictIdle(for: peer) && tally.enter(.ordinary, of: peer, limit: limit)
    }

    /// Resets a connection of the client that has more than its share, in favour of another client: the
    /// oldest of those that read their answer too slowly, else the oldest. False if this loop has none of
    /// that client.
    private func replaceConnection(of client: PeerAddress, for peer: PeerAddress) -> Bool {
        let own = connections.all.filter { !$0.isRestricted && tally.client($0.peer) == client }
        let late = own.filter { $0.isBehind }
        guard let oldest = (late.isEmpty ? own : late).min(by: { $0.acceptedAt < $1.acceptedAt }) else {
            return false
        }
        // The new connection is counted before the old one is removed: no other loop takes the place in
        // between.
        _ = tally.enter(.ordinary, of: peer, limit: .max)
        oldest.resetOnClose()
        return evict(oldest)
    }

    /// Whether a reserved connection is free, with a descriptor from the reserve if there is no other.
    private func takesVital(for accepted: inout AcceptedSocket) -> Bool {
        repeat {
            let limit = configuration.reservedConnections
            guard tally.enter(.restricted, of: accepted.peer, limit: limit) else { continue }
            if !accepted.isWithoutDescriptor { return true }
            // One step replaces the number: no other thread gets it in between.
            if let number = reserve.take() {
                if linux_dup3(accepted.socket, number, O_CLOEXEC) >= 0 {
                    close(accepted.socket)
                    accepted.socket = number
                    return true
                }
                close(number)
            }
            tally.undoEnter(.restricted, of: accepted.peer)
        } while evictRestricted()
        return false
    }

    private func place(_ accepted: AcceptedSocket, _ kind: ServerTally.Kind) {
        configuration.connectionsChanged(1)
        let (socket, peer, isRestricted) = (accepted.socket, accepted.peer, kind == .restricted)
        let owner = context.isDraining ? balance.take(at: index) : balance.take(preferring: index)
        if owner == index {
            adopt(socket, peer, isRestricted: isRestricted)
        } else {
            balance.inbox(of: owner).post(.connection(socket, peer, isRestricted: isRestricted))
        }
    }

    /// Whether a task may make the answer to a vital request: half of the reserved connections, over all
    /// loops, stay for requests that are answered at once.
    var mayStartVitalTask: Bool {
        let awaiting = restricted.count { connections[$0]?.hasTask ?? false }
        return awaiting < max(1, configuration.reservedConnections / (2 * balance.count))
    }

    /// Closes a reserved connection: the oldest that has its answer, else the oldest without a request, else
    /// the oldest that does not read its answer. These connections are for health checks, which send their
    /// request at once.
    private func evictRestricted() -> Bool {
        restricted.removeAll { connections[$0] == nil }
        var silent: Connection?
        for number in restricted {
            guard let connection = connections[number] else { return true }
            // A request may have been received meanwhile.
            connection.readNow()
            guard !connection.isClosed else { return true }
            guard connection.mayBeEvicted else { continue }
            if connection.hasServed { return evict(connection) }
            silent = silent ?? connection
        }
        if let silent { return evict(silent) }
        let unread = restricted.lazy.compactMap { self.connections[$0] }.first { !$0.hasTask }
        return unread.map(evict) ?? false
    }

    private func evict(_ connection: Connection) -> Bool {
        // A client that has its answer, and only waits for the end of the connection, loses nothing.
        let hasAll = connection.hasServed && connection.mayBeEvicted
        if !hasAll || !connection.isRestricted && !connection.isLingering {
            tally.reject(.evicted)
        }
        connection.cut()
        return true
    }

    /// At the limit, closes the connection that has waited longest among some for which no answer is being
    /// made: it has its answers, has sent no request yet, or sends it slowly. However many of those there
    /// are, they exclude no other client.
    private func evictIdle(for peer: PeerAddress) -> Bool {
        for _ in 0..<Self.evictionAttempts {
            guard let oldest = oldestIdle(for: peer) else { return false }
            // A request may have been received meanwhile.
            oldest.leaveIdleQueue()
            oldest.readNow()
            guard !oldest.isClosed else { return true }
            if mayEnd(oldest) { return evict(oldest) }
        }
        return false
    }

    /// How often another connection is chosen because the first one turns out to have sent a request.
    private static var evictionAttempts: Int { 4 }

    /// The connection that has waited longest of some that may be idle; if there are none, of some whose
    /// clients have not read their answers for a while. None that is exempt from this peer.
    private func oldestIdle(for peer: PeerAddress) -> Connection? {
        let (largest, client) = (tally.largestClient, tally.client(peer))
        var (idlers, slow): ([Connection], [Connection]) = ([], [])
        for _ in 0..<idle.count where idlers.count + slow.count < Self.evictionSample {
            guard let number = idle.popFirst() else { break }
            guard let connection = connections[number] else { continue }
            switch connection.idleness {
            case .busy: connection.leaveIdleQueue()
            case .unacknowledged: slow.append(connection)
            case .idle: idlers.append(connection)
            }
        }
        let late = slow.filter(mayEnd)
        let oldest = (idlers.isEmpty ? late : idlers).lazy
            .filter { [self] in !isExempt($0, from: client, while: largest) }
            .min { $0.idleSince < $1.idleSince }
        for connection in idlers + slow where connection !== oldest { enlist(connection.number) }
        return oldest
    }

    /// Whether a connection is exempt although it is idle, because a client has more than its share: new
    /// connections of that client close only its own, and those of others close none that has just been
    /// accepted and has yet to send its request.
    private func isExempt(
        _ connection: Connection, from client: PeerAddress?, while largest: PeerAddress?
    ) -> Bool {
        guard let largest, tally.client(connection.peer) != largest else { return false }
        return client == largest
            || !connection.hasServed && now < connection.acceptedAt + context.times.linger
    }

    /// Whether a connection may be closed in favour of another one: one whose answer has not reached its
    /// client has some time for it, and the kernel keeps sending it afterwards.
    private func mayEnd(_ connection: Connection) -> Bool {
        switch connection.idleness {
        case .busy: false
        case .unacknowledged: now >= connection.idleSince + context.times.linger
        case .idle: true
        }
    }

    /// The maximum number of idle connections that are compared to find one to close: enough that it is one
    /// of the oldest.
    private static var evictionSample: Int { 64 }

    /// Adds a connection that may be idle from now on.
    func enlist(_ number: UInt64) {
        idle.append(number, living: connections.count) { self.connections[$0] != nil }
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
        } else {
            connection.enlist()
        }
        timer.start()
        let events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        do throws(SocketError) {
            try watch(socket, connection.number, events)
        } catch {
            connection.cut()
        }
        if context.isDraining { connection.drain() }
    }
}
