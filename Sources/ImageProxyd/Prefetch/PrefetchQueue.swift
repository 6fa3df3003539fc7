// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The orders that wait or run, and whose turn it is. Pure; times are of a clock that only advances.
///
/// Orders take turns. Within an order the sources of its hosts take turns, those of the host with the fewest
/// running sources first. One host uses at most n − 1 of the n slots (one of one), so that a slow origin
/// leaves a slot to others.
struct PrefetchQueue: Sendable {
    /// One source whose images are made, one after the other.
    struct Job: Sendable {
        let id: Int
        let token: String
        let url: String
        let host: String
        let plan: PrefetchPlan
    }

    /// Why an order is not accepted.
    enum Refusal: Error, Equatable {
        /// As many bytes wait as may.
        case full
        /// The sources alone are more than may wait.
        case tooLarge
        /// As many orders wait or run as may.
        case tooManyOrders
        /// There is no such order that waits for further sources.
        case closed
    }

    private struct Order {
        var progress: PrefetchProgress
        let plan: PrefetchPlan
        /// The sources that wait, by host; the hosts with some in the order of their turns.
        var waiting: [String: FIFO<String>] = [:]
        var hosts = FIFO<String>()
        var waitingCount = 0
        var bytes = 0
        var running: Set<Int> = []
        /// Whether further sources may come, and until when they are waited for.
        var isOpen: Bool
        var openUntil: Duration
        /// When the next source may begin, by the order's rate.
        var nextStart = Duration.zero
    }

    private(set) var configuration: PrefetchConfiguration
    private var orders: [String: Order] = [:]
    /// The tokens in the order of their turns.
    private var turns: [String] = []
    private var jobs: [Int: Job] = [:]
    private var runningByHost: [String: Int] = [:]
    private var lastID = 0
    /// The bytes that wait.
    private(set) var bytes = 0

    /// How long an open order waits for further sources.
    static let openTimeout = Duration.seconds(60)
    /// Bytes counted for a waiting source, and for a host, in addition to its text.
    private static let overhead = 64

    init(configuration: PrefetchConfiguration) {
        self.configuration = configuration
    }

    mutating func adopt(_ configuration: PrefetchConfiguration) { self.configuration = configuration }

    /// Images that wait.
    var waitingCount: Int { orders.values.reduce(0) { $0 + $1.waitingCount * $1.plan.variants.count } }

    /// The orders, the oldest first.
    var progresses: [PrefetchProgress] {
        orders.values.map(\.progress).sorted { ($0.ordered, $0.token) < ($1.ordered, $1.token) }
    }

    func progress(of token: String) -> PrefetchProgress? { orders[token]?.progress }

    // MARK: - Adding

    /// Adds an order.
    mutating func add(
        _ body: PrefetchBody, _ plan: PrefetchPlan, token: String, at now: Duration, seconds: Int64
    ) throws(Refusal) {
        guard orders.count < configuration.maxOrders else { throw .tooManyOrders }
        let cost = Self.cost(of: body.urls)
        guard cost <= configuration.queueBytes.bytes else { throw .tooLarge }
        guard bytes + cost + plan.byteCount <= configuration.queueBytes.bytes else { throw .full }
        var progress = PrefetchProgress(token: token)
        progress.ordered = seconds
        var order = Order(
            progress: progress, plan: plan, isOpen: body.isOpen, openUntil: now + Self.openTimeout)
        order.bytes = plan.byteCount
        bytes += plan.byteCount
        orders[token] = order
        turns.append(token)
        enqueue(body.urls, cost, to: token)
    }

    /// Adds further sources to an open order.
    mutating func append(_ body: PrefetchBody, to token: String, at now: Duration) throws(Refusal) {
        guard orders[token]?.isOpen == true else { throw .closed }
        orders[token]?.openUntil = now + Self.openTimeout
        let cost = Self.cost(of: body.urls)
        guard cost <= configuration.queueBytes.bytes else { throw .tooLarge }
        guard bytes + cost <= configuration.queueBytes.bytes else { throw .full }
        orders[token]?.isOpen = body.isOpen
        enqueue(body.urls, cost, to: token)
    }

    private static func cost(of urls: [String]) -> Int {
        urls.reduce(0) { $0 + cost(of: $1) }
    }

    private static func cost(of url: String) -> Int {
        // Twice, as each may have a host of its own.
        url.utf8.count + 2 * overhead
    }

    private mutating func enqueue(_ urls: [String], _ cost: Int, to token: String) {
        guard var order = orders.removeValue(forKey: token) else { return }
        for url in urls {
            let host = Self.host(of: url)
            if order.waiting[host] == nil { order.hosts.append(host) }
            order.waiting[host, default: FIFO()].append(url)
        }
        order.waitingCount += urls.count
        order.progress.urls += urls.count
        order.progress.total += urls.count * order.plan.variants.count
        order.bytes += cost
        bytes += cost
        orders[token] = order
    }

    /// Scheme, host and port of a URL as far as its text shows them; only turns depend on it.
    static func host(of url: String) -> String {
        guard let start = url.utf8.firstRange(of: "://".utf8)?.upperBound else { return "" }
        let host = url.utf8[start...].prefix { !"/?#".utf8.contains($0) }
        return String(decoding: host, as: UTF8.self).lowercased()
    }

    // MARK: - Turns

    /// Takes the next source out; nil when all slots are taken, or none may begin now.
    mutating func next(at now: Duration, seconds: Int64) -> Job? {
        guard jobs.count < configuration.maxConcurrent else { return nil }
        for _ in turns.indices {
            let token = turns.removeFirst()
            turns.append(token)
            guard var order = orders.removeValue(forKey: token) else { continue }
            defer { orders[token] = order }
            guard order.waitingCount > 0, order.nextStart <= now, let host = takeHost(of: &order),
                let url = takeURL(of: host, from: &order)
            else { continue }
            lastID += 1
            let job = Job(id: lastID, token: token, url: url, host: host, plan: order.plan)
            order.running.insert(job.id)
            order.progress.started = order.progress.started ?? seconds
            order.progress.state = .running
            if let rate = order.plan.rate {
                let gap = Duration.seconds(Double(order.plan.variants.count) / rate)
                order.nextStart = max(order.nextStart, now) + gap
            }
            jobs[job.id] = job
            runningByHost[host, default: 0] += 1
            return job
        }
        return nil
    }

    /// The host whose turn it is; nil where all have as many slots as they may.
    private func takeHost(of order: inout Order) -> String? {
        let most = max(1, configuration.maxConcurrent - 1)
        var best: (index: Int, running: Int)?
        for index in order.hosts.indices {
            let running = order.hosts[index].flatMap { runningByHost[$0] } ?? 0
            if running < best?.running ?? most { best = (index, running) }
            // Few hosts can have something running.
            if running == 0 { break }
        }
        return best.flatMap { order.hosts.remove(at: $0.index) }
    }

    private mutating func takeURL(of host: String, from order: inout Order) -> String? {
        guard var sources = order.waiting.removeValue(forKey: host), let url = sources.popFirst() else {
            return nil
        }
        if !sources.isEmpty {
            order.waiting[host] = sources
            order.hosts.append(host)
        }
        order.waitingCount -= 1
        order.bytes -= Self.cost(of: url)
        bytes -= Self.cost(of: url)
        return url
    }

    /// When `next` or `takeEnded` should be called again without another cause, after `now`; nil for never.
    func nextTime(after now: Duration) -> Duration? {
        orders.values.compactMap { order -> Duration? in
            // What could begin already waits for a slot: the end of another source is the cause.
            if order.waitingCount > 0 { return order.nextStart > now ? order.nextStart : nil }
            return order.isOpen && order.running.isEmpty ? order.openUntil : nil
        }.min()
    }

    // MARK: - Progress and ends

    /// Changes the counts of a running source's order.
    mutating func record(_ job: Job, _ change: (inout PrefetchProgress) -> Void) {
        guard var progress = orders[job.token]?.progress else { return }
        change(&progress)
        orders[job.token]?.progress = progress
    }

    /// Notes that a source is done.
    mutating func end(_ job: Job) {
        guard jobs.removeValue(forKey: job.id) != nil else { return }
        let running = (runningByHost[job.host] ?? 1) - 1
        runningByHost[job.host] = running > 0 ? running : nil
        orders[job.token]?.running.remove(job.id)
    }

    /// Removes the orders that have ended, also those that have waited too long for further sources.
    mutating func takeEnded(at now: Duration, seconds: Int64) -> [PrefetchProgress] {
        let ended = orders.filter { _, order in
            order.waitingCount == 0 && order.running.isEmpty && (!order.isOpen || order.openUntil <= now)
        }
        return ended.keys.compactMap { token in
            remove(token, as: orders[token]?.isOpen == true ? .interrupted : .done, seconds: seconds)
        }
    }

    /// Removes an order; its running sources still hold their slots until they end.
    mutating func remove(
        _ token: String, as state: PrefetchProgress.State, seconds: Int64
    ) -> PrefetchProgress? {
        guard var progress = orders[token]?.progress, let order = orders.removeValue(forKey: token) else {
            return nil
        }
        turns.removeAll { $0 == token }
        bytes -= order.bytes
        progress.state = state
        progress.ended = seconds
        return progress
    }

    /// The running sources of an order.
    func running(of token: String) -> [Int] { orders[token].map { Array($0.running) } ?? [] }
}
