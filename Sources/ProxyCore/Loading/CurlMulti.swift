// SPDX-License-Identifier: Apache-2.0

internal import Glibc
import Primitives
import URLs

/// The loader's thread: all transfers, their handles and their deadlines; no part of it leaves the thread.
final class CurlMulti {
    private let set: CurlHandleSet
    private let lookUps = NameLookUps()
    private let inbox: LoaderInbox
    private let counters: LoaderCounters
    private let connections = KnownConnections()
    private let activity = TransferActivity()
    /// The origins that have lately sent bytes without a request, and until when each request to one has a connection of
    /// its own.
    ///
    /// Such bytes are detected unless they arrive in the short time between a request and its acknowledgement. An attacker
    /// is usually too early, and then has to wait for the next attempt.
    private var distrusted = EvictionRing<SourceURL.Origin, ContinuousClock.Instant>(scanLimit: 64)
    private var rules: Transfer.Rules
    private var fields: RequestFields
    private let isAllowed: @Sendable (SourceURL) -> Bool

    private var queue: FetchQueue
    private var delayed: DelayedRetries
    /// Waiting and running fetches, by job.
    private var transfers: [UInt64: Transfer] = [:]
    /// The jobs of running hops, by handle.
    private var running: [UInt: UInt64] = [:]
    /// No hop's deadline passes before this; it may be earlier than the first one.
    private var earliestDeadline: ContinuousClock.Instant?
    private var isStopping = false

    /// The maximum number of origins that are distrusted at once.
    private static let mostDistrusted = 1_024
    /// The longest wait without work, in case a wake-up is lost; a command ends the wait at once.
    private static let longestWait = Duration.seconds(60)

    init(
        set: CurlHandleSet, inbox: LoaderInbox, counters: LoaderCounters, settings: LoaderSettings,
        isAllowed: @escaping @Sendable (SourceURL) -> Bool
    ) {
        self.set = set
        self.inbox = inbox
        self.counters = counters
        rules = Transfer.Rules(settings, lookUps: lookUps)
        fields = settings.fields
        self.isAllowed = isAllowed
        queue = FetchQueue(configuration: rules.configuration)
        delayed = DelayedRetries(delay: rules.configuration.retryDelay)
    }

    /// The pause of the thread when libcurl fails, in microseconds.
    private static let rest: UInt32 = 10_000

    /// Runs until a stop command; then ends every fetch.
    func run() {
        var events: [SocketWatch.Event] = []
        while !isStopping {
            inbox.takeAll().forEach(execute)
            // After a stop command the thread must not wait again: no other thread would wake it.
            if isStopping { break }
            startWaiting()
            perform(events)
            goOnWithBody()
            set.takeFinished().forEach(hopHasEnded)
            notifyProgress()
            enforceDeadlines(at: now)
            startWaiting()
            counters.show(running: queue.running, waiting: queue.waiting + delayed.count)
            events = set.wait(
                milliseconds: activity.hasTriedAddress || activity.hasWaiting
                    ? 0 : millisecondsToWait(at: now))
        }
        shutDown()
    }

    private func perform(_ events: [SocketWatch.Event]) {
        let hasTriedAddress = activity.takeHasTriedAddress()
        for event in events {
            guard let handle = set.handle(at: event), let id = running[handle], let transfer = transfers[id]
            else { continue }
            // A response may grow without a call of `receive`, by what frames its body.
            transfer.noteActivity()
            // It may be a refusal.
            if transfer.clock?.isConnecting == true { activity.noteTriedAddress() }
        }
        // After an address that fails, libcurl waits for a timer before it tries the next, up to half of the time to
        // connect. A call for all transfers makes it continue at once.
        let isComplete = hasTriedAddress ? set.performAll() : set.perform(events)
        if !isComplete { abortAll() }
    }

    /// Decodes a part of one body in a content coding, or receives more of one that came in many pieces. The bodies take turns,
    /// and with them all that libcurl does: a few bytes of one may take as long as many fetches.
    private func goOnWithBody() {
        guard let id = activity.takeWaiting(), let transfer = transfers[id],
            transfer.isDecoding || transfer.hop.isPaused
        else { return }
        guard transfer.goOn() else {
            return take(transfer.next(after: .refused, isAllowed: isAllowed), of: transfer)
        }
        if !transfer.isDecoding, let ending = transfer.hop.ending {
            take(transfer.next(after: ending.how, isAllowed: isAllowed), of: transfer)
        }
    }

    /// libcurl has failed, for example without memory: all running transfers are aborted, later ones may
    /// succeed.
    private func abortAll() {
        for id in running.values {
            guard let transfer = transfers[id] else { continue }
            take(.failure(.storage("libcurl can't go on")), of: transfer)
        }
        usleep(Self.rest)
    }

    // MARK: - Commands

    private func execute(_ command: LoaderInbox.Command) {
        switch command {
        case .start(let job, let continuation): admit(job, continuation)
        case .cancel(let id): cancel(id)
        case .change(let id, .raised(let priority)): queue.raise(id, to: priority)
        case .change(let id, .joined(let client)):
            if let transfer = transfers[id] {
                queue.join(id, by: client, until: ticket(for: transfer).deadline)
            }
        case .adopt(let settings): adopt(settings)
        case .ping(let continuation): continuation.resume(returning: true)
        case .stop: isStopping = true
        }
    }

    /// Running fetches keep their limits (redirects, sizes, retries); the addresses, fields and connection options of each
    /// further hop are the new ones, as is the queue's order.
    private func adopt(_ settings: LoaderSettings) {
        rules = Transfer.Rules(settings, lookUps: lookUps)
        fields = settings.fields
        queue.adopt(settings.configuration)
        delayed.delay = settings.configuration.retryDelay
        set.keep(idleConnections: settings.idleConnections)
    }

    private func admit(_ job: LoadJob, _ continuation: LoadJob.Continuation) {
        let transfer = newTransfer(job, continuation)
        guard !job.hasBeenCancelled else { return finish(transfer, .failure(.cancelled)) }
        transfers[job.id] = transfer
        enqueue(transfer)
        // Started before the next command is handled, so that only fetches that cannot run fill the queue.
        startWaiting()
    }

    private func newTransfer(_ job: LoadJob, _ continuation: LoadJob.Continuation) -> Transfer {
        Transfer(
            job: job, rules: rules, connections: connections, activity: activity, continuation: continuation)
    }

    private func cancel(_ id: UInt64) {
        guard let transfer = transfers[id] else { return }
        if transfer.isLookingUp { return transfer.abandon() }
        release(transfer)
        finish(transfer, .failure(.cancelled))
    }

    // MARK: - Hops

    private func startWaiting() {
        while let id = queue.startNext() {
            guard let transfer = transfers[id] else { continue }
            begin(transfer)
        }
    }

    private func begin(_ transfer: Transfer) {
        let now = self.now
        transfer.beginHop(
            at: now, needsOwnConnection: distrusted.value(for: transfer.url.origin) ?? now > now)
        do throws(LoadError) { try rules.check(transfer.url) } catch {
            return take(.failure(error), of: transfer)
        }
        let lines = fields.lines(
            for: transfer.job, to: transfer.url, isCrossOrigin: transfer.isCrossOrigin)
        let rule = transfer.isCrossOrigin ? nil : transfer.job.request.rule
        guard let handle = CurlHandle(configuration: rules.configuration, endings: set.endings),
            handle.prepare(url: transfer.url, lines: lines, by: rule, for: transfer), set.add(handle)
        else { return take(.failure(.unreachable("libcurl refused the request")), of: transfer) }
        transfer.handle = handle
        running[handle.id] = transfer.job.id
        noteDeadline(of: transfer)
    }

    private func notifyProgress() {
        for id in activity.takeActive() {
            guard let transfer = transfers[id], transfer.handle != nil else { continue }
            guard transfer.notifyProgress() else {
                take(transfer.next(after: .refused, isAllowed: isAllowed), of: transfer)
                continue
            }
            noteDeadline(of: transfer)
        }
    }

    private func hopHasEnded(_ handleID: UInt, _ ending: CurlHandle.Ending) {
        guard let id = running[handleID], let transfer = transfers[id] else { return }
        if ending == .complete, transfer.isDecoding {
            transfer.hop.ending = (ending, transfer.handle?.mayBeCut ?? true)
            return
        }
        let explained = transfer.handle?.explained(ending, ofHost: transfer.url.host) ?? ending
        take(transfer.next(after: explained, isAllowed: isAllowed), of: transfer)
    }

    /// Takes the next step of a transfer whose hop is over; the hop's slot and handle are free again.
    private func take(_ next: Transfer.Next, of transfer: Transfer) {
        let summary = summary(of: transfer)
        release(transfer)
        switch transfer.isAbandoned ? .failure(.cancelled) : next {
        case .success: finish(transfer, .success(summary))
        case .failure(let error): finish(transfer, .failure(error))
        case .retry:
            transfer.retries += 1
            counters.count(\.retries)
            delayed.add(
                transfer.job.id, retries: transfer.retries, at: now, random: .random(in: 0..<1))
        case .anew(let fault):
            transfer.needsFreshConnection = true
            if fault == .tainted { distrust(transfer.url.origin) }
            enqueue(transfer)
        case .follow(let target):
            transfer.follow(target)
            enqueue(transfer)
        }
    }

    private func distrust(_ origin: SourceURL.Origin) {
        counters.count(\.taintedConnections)
        distrusted.store(
            now + rules.configuration.distrust.duration, for: origin,
            capacity: Self.mostDistrusted)
    }

    private func enqueue(_ transfer: Transfer) {
        switch queue.enqueue(ticket(for: transfer)) {
        case .admitted: break
        case .displacing(let other):
            if let other = transfers[other] { finish(other, .failure(.queueFull)) }
        case .full: finish(transfer, .failure(.queueFull))
        }
    }

    private func ticket(for transfer: Transfer) -> FetchTicket {
        let queueDeadline = now + rules.configuration.queueTimeout.duration
        let waiters = transfer.job.request.waiters.current
        return FetchTicket(
            id: transfer.job.id, place: transfer.place, clients: waiters.clients, priority: waiters.priority,
            deadline: min(queueDeadline, transfer.clock?.totalDeadline ?? queueDeadline))
    }

    /// Removes a fetch from the queue, or its hop from the set; a hop that has not ended is aborted.
    private func release(_ transfer: Transfer) {
        if queue.remove(transfer.job.id) || delayed.remove(transfer.job.id) { return }
        queue.release(transfer.job.id)
        transfer.endLookUp()
        guard let handle = transfer.handle else { return }
        counters.countHop(
            reused: transfer.hasSentRequest && handle.didReuseConnection, opened: transfer.hop.didOpenSocket)
        set.remove(handle)
        running[handle.id] = nil
        transfer.handle = nil
    }

    private func summary(of transfer: Transfer) -> LoadSummary {
        var summary = LoadSummary()
        summary.byteCount = transfer.hop.bodyBytes
        transfer.handle?.readTimes(into: &summary)
        return summary
    }

    private func finish(_ transfer: Transfer, _ result: Result<LoadSummary, LoadError>) {
        transfers[transfer.job.id] = nil
        counters.show(running: queue.running, waiting: queue.waiting + delayed.count)
        transfer.finish(result)
    }

    // MARK: - Time

    private var now: ContinuousClock.Instant { rules.clocks.monotonic() }

    private func enforceDeadlines(at now: ContinuousClock.Instant) {
        for id in delayed.takeDue(at: now) {
            if let transfer = transfers[id] { enqueue(transfer) }
        }
        for id in queue.expire(at: now) {
            guard let transfer = transfers[id] else { continue }
            let isOverall = (transfer.clock?.totalDeadline).map { $0 <= now } ?? false
            finish(transfer, .failure(isOverall ? .timedOut(.transfer) : .queueTimedOut))
        }
        guard let earliestDeadline, earliestDeadline <= now else { return }
        self.earliestDeadline = nil
        for id in running.values {
            guard let transfer = transfers[id] else { continue }
            if let phase = transfer.clock?.check(at: now) {
                take(transfer.next(afterPassing: phase, isAllowed: isAllowed), of: transfer)
            } else {
                noteDeadline(of: transfer)
            }
        }
    }

    private func noteDeadline(of transfer: Transfer) {
        guard let deadline = transfer.clock?.deadline else { return }
        earliestDeadline = min(earliestDeadline ?? deadline, deadline)
    }

    /// Milliseconds until the next deadline, rounded up, so that it has passed by then.
    private func millisecondsToWait(at now: ContinuousClock.Instant) -> Int {
        let deadline = [earliestDeadline, queue.nextDeadline, delayed.nextDue].compactMap { $0 }.min()
        let wait = min(Self.longestWait, deadline.map { now.duration(to: $0) } ?? Self.longestWait)
        return max(0, Int((wait / .milliseconds(1)).rounded(.up)))
    }

    // MARK: - The end

    private func shutDown() {
        for transfer in transfers.values {
            release(transfer)
            finish(transfer, .failure(.cancelled))
        }
        for command in inbox.close() {
            switch command {
            case .start(let job, let continuation):
                finish(newTransfer(job, continuation), .failure(.cancelled))
            case .ping(let continuation): continuation.resume(returning: false)
            case .cancel, .change, .adopt, .stop: continue
            }
        }
    }
}
