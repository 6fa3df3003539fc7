// SPDX-License-Identifier: Apache-2.0

package import Cache
package import Freshness
import Glibc
package import Loading
package import Primitives
import Synchronization

/// The home of each source among the nodes, from which a node requests a picture before it makes it itself.
/// Safe from any task.
///
/// A source's home is the node with the greatest weight for it (rendezvous hashing): when a node comes or goes, only the
/// sources of that node move. The weights depend on the cluster's key, so that no client can choose a home.
package final class ClusterHomes: Sendable {
    private struct State {
        var nodes: [(peer: ClusterPeer, seed: UInt64)] = []
        var readAt: ContinuousClock.Instant?
        /// Reads them; several callers wait for one.
        var reading: Task<Void, Never>?
        /// Nodes that did not answer, and until when they get no requests.
        var pausedUntil: [ClusterPeer: ContinuousClock.Instant] = [:]
    }

    private let peers: ClusterPeers
    private let key: ClusterKey
    /// This node's addresses, and those that turned out to be.
    private let own: Mutex<Set<String>>
    private let maxBytes: Int
    private let budget: ByteBudget
    private let loader: any ImageLoading
    private let isPurged: @Sendable (SharedSubject, Int64) -> Bool
    private let state = Mutex(State())

    /// The path of a picture that a node requests from its home.
    package static let path = "/cluster/image"
    /// How long the addresses of the nodes are used before they are read again.
    private static let addressLifetime = Duration.seconds(10)
    /// A home that has not answered after this time is pinged; the ping may take as long.
    private static let pingDelay = Duration.seconds(1)
    /// How long a home that answers pings may take; then the node makes the picture itself.
    private static let answerTimeout = Duration.seconds(60)
    /// How long a node that has failed to answer gets no requests.
    private static let retryPause = Duration.seconds(15)

    /// - Parameters:
    ///   - own: this node's addresses, as `HOST:PORT`.
    ///   - maxEntryBytes: the length of the largest body.
    ///   - maxBytes: most bytes of answers that are being received.
    ///   - loader: a loader of its own, whose queue is bounded for each client: what waits for homes delays no store and no purge.
    ///   - isPurged: whether a picture that was fetched so many seconds ago is from before a purge that concerns it.
    package init(
        _ peers: ClusterPeers, key: ClusterKey, own: Set<String>, maxEntryBytes: Int, maxBytes: Int,
        loader: any ImageLoading, isPurged: @escaping @Sendable (SharedSubject, Int64) -> Bool
    ) {
        (self.peers, self.key) = (peers, key)
        self.own = Mutex(own)
        (self.loader, self.isPurged) = (loader, isPurged)
        self.maxBytes = HomeAnswer.maxHeadBytes + maxEntryBytes
        budget = ByteBudget(maxBytes)
    }

    /// The settings of its loader.
    package static func loaderConfiguration(maxEntryBytes: Int) -> FetchConfiguration {
        var fetch = FetchConfiguration()
        (fetch.maxConcurrent, fetch.maxPerHost, fetch.clientShare) = (128, 32, 0.5)
        // What finds no place is made by the node itself, at once.
        fetch.queue = 0
        fetch.connectTimeout = .seconds(2)
        (fetch.firstByteTimeout, fetch.totalTimeout) = (.minutes(2), .minutes(2))
        (fetch.retries, fetch.maxRedirects) = (0, 0)
        fetch.maxBytes = ByteCount(HomeAnswer.maxHeadBytes + maxEntryBytes)
        return fetch
    }

    /// The picture of a request, made by its source's home; nil where this node is the home, or makes it itself.
    ///
    /// - Parameters:
    ///   - target: the client's, path and query; `accept`: its field.
    ///   - client: the client, for turns in this node's queue and in the home's.
    package func picture(
        of subject: SharedSubject, target: String, accept: String, client: ClientID?
    ) async -> (record: SourceRecord, entry: PortableEntry)? {
        await refresh()
        guard let home = home(of: subject.source), !isOwn(home), isAsked(home) else { return nil }
        let query = [("target", target), ("accept", accept), ("client", client?.text ?? "")]
            .filter { !$0.1.isEmpty }.map { "\($0.0)=\($0.1.asQueryValue)" }.joined(separator: "&")
        let answer: ExchangeAnswer
        do throws(ExchangeError) {
            answer = try await ask(home, Self.path + "?" + query, for: client)
        } catch {
            // Too much to do, a client that left, and a home that is busy say nothing of the home.
            if case .failed = error { pauseRequests(to: home) }
            return nil
        }
        if answer.status == 409, answer.content == Self.ownAnswer(peers.node) {
            own.withLock { _ = $0.insert(home.name) }
        }
        // Its refusal says nothing of the picture that this node can use.
        guard answer.status == 200, let found = HomeAnswer(answer.content), found.concerns(subject),
            !isPurged(subject, found.age)
        else { return nil }
        var record = found.record
        let now = SystemTime.now()
        record.reuse.responseTime = now - .seconds(Int(found.age))
        var entry = found.entry
        // The home's clock may be ahead.
        entry.description.storedAt = min(entry.description.storedAt, now.seconds)
        return (record, entry)
    }

    /// Sends a home a request, and gives up once the home does not answer a ping.
    private func ask(
        _ home: ClusterPeer, _ target: String, for client: ClientID?
    ) async throws(ExchangeError) -> ExchangeAnswer {
        let isUnreachable = Atomic(false)
        do throws(ExchangeError) {
            return try await Deadline.run {
                [peers, loader, maxBytes, budget] () async throws(ExchangeError) in
                try await peers.exchange(
                    "GET", target, with: home, atMost: maxBytes, within: Self.answerTimeout, by: loader,
                    for: client, budget: budget)
            } until: {
                // Ignored: that the answer has come.
                try? await self.peers.timer.sleep(for: Self.pingDelay)
                guard !Task.isCancelled, await !self.isReachable(home) else { return false }
                isUnreachable.store(!Task.isCancelled, ordering: .relaxed)
                return true
            }
        } catch {
            let isSilent = !Task.isCancelled && isUnreachable.load(ordering: .relaxed)
            throw isSilent ? .failed("the node does not answer") : error
        }
    }

    /// Whether a node answers at all.
    private func isReachable(_ peer: ClusterPeer) async -> Bool {
        // Ignored: why it does not answer.
        let answer = try? await peers.exchange(
            "GET", ClusterPeers.pingPath, with: peer, atMost: 1 << 10, within: Self.pingDelay)
        return answer?.status == 200
    }

    /// What a node answers to itself, with status 409 and signed: no host between nodes can pretend to be this one.
    package static func ownAnswer(_ node: String) -> [UInt8] { Array("own \(node)".utf8) }

    private func isOwn(_ peer: ClusterPeer) -> Bool { own.withLock { $0.contains(peer.name) } }

    /// Sends a node no requests for a while.
    private func pauseRequests(to peer: ClusterPeer) {
        state.withLock { $0.pausedUntil[peer] = .now + Self.retryPause }
    }

    /// The home of a source; nil without nodes.
    package func home(of source: CacheKey) -> ClusterPeer? {
        state.withLock { state in
            state.nodes.max { Self.weight($0.seed, source) < Self.weight($1.seed, source) }?.peer
        }
    }

    /// The finalizer of SplitMix64 over both.
    private static func weight(_ seed: UInt64, _ source: CacheKey) -> UInt64 {
        var mixed = seed ^ source.low
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    private func isAsked(_ peer: ClusterPeer) -> Bool {
        state.withLock { state in
            guard let until = state.pausedUntil[peer] else { return true }
            guard until < .now else { return false }
            state.pausedUntil[peer] = nil
            return true
        }
    }

    /// Reads the nodes' addresses anew, if that is due; waits only where none are known.
    private func refresh() async {
        let (reading, isFirst) = state.withLock { state -> (Task<Void, Never>?, Bool) in
            let isDue = state.readAt.map { .now - $0 > Self.addressLifetime } ?? true
            if isDue, state.reading == nil {
                state.reading = Task { self.adopt(await self.peers.nodes().nodes) }
            }
            return (state.reading, state.readAt == nil)
        }
        if isFirst { await reading?.value }
    }

    /// Takes the nodes; those that the name service has lost at once stay out.
    package func adopt(_ nodes: [ClusterPeer]) {
        let seeded = nodes.map { (peer: $0, seed: key.seed($0.name)) }
        state.withLock { state in
            state.nodes = seeded
            (state.readAt, state.reading) = (.now, nil)
            state.pausedUntil = state.pausedUntil.filter { entry in nodes.contains(entry.key) }
        }
    }

    /// The addresses of this machine, as they stand in `HOST:PORT`.
    package static func localHosts() -> Set<String> {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard unsafe getifaddrs(&list) == 0 else { return [] }
        defer { unsafe freeifaddrs(list) }
        var hosts: Set<String> = []
        var next = unsafe list
        while let entry = unsafe next {
            let facts = unsafe entry.pointee
            unsafe next = facts.ifa_next
            guard let address = unsafe facts.ifa_addr else { continue }
            let family = Int32(unsafe address.pointee.sa_family)
            let length = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
            guard family == AF_INET || family == AF_INET6 else { continue }
            if let host = unsafe ClusterPeers.host(of: address, socklen_t(length)) { hosts.insert(host) }
        }
        return hosts
    }
}

/// A picture as its home sends it: the record of its source, and the picture.
package struct HomeAnswer: Sendable {
    /// The record, with the times of the home's clock.
    package var record: SourceRecord
    /// Whole seconds since its response was received, by the home's clock (`SourceRecord.forOthers`).
    package var age: Int64
    /// The picture.
    package var entry: PortableEntry

    static let maxHeadBytes = 16 + PortableRecord.maxBytes + PortableEntry.maxHeaderBytes

    /// Combines the members.
    package init(record: SourceRecord, age: Int64, entry: PortableEntry) {
        (self.record, self.age, self.entry) = (record, age, entry)
    }

    /// All bytes: age (8), length of the record (4), both least significant byte first, the record, the picture. Nil where a
    /// part is too long.
    package func encoded() -> [UInt8]? {
        guard let head = PortableRecord(record).encoded(), let picture = entry.encoded() else { return nil }
        var writer = LittleEndianWriter()
        writer.append(max(0, age))
        writer.append(UInt32(head.count))
        return writer.bytes + head + picture
    }

    /// Parses them; nil unless all of it holds.
    init?(_ bytes: [UInt8]) {
        var reader = LittleEndianReader(bytes[...])
        guard let age = reader.integer(Int64.self), (0..<1 << 40).contains(age),
            let count = reader.integer(UInt32.self), let head = reader.take(Int(count)),
            let record = PortableRecord(Array(head))?.record,
            let entry = PortableEntry(Array(bytes[head.endIndex...]))
        else { return nil }
        (self.record, self.age, self.entry) = (record, age, entry)
    }

    /// Whether it is what was requested.
    func concerns(_ subject: SharedSubject) -> Bool {
        let description = entry.description
        let isPicture =
            description.kind == .original
            ? description.key == subject.source && description.keyText == subject.sourceText
            : description.kind.isResult && description.key == subject.result
                && description.keyText == subject.resultText
        return isPicture && record.key == subject.source && record.keyText == subject.sourceText
            && description.sourceHash == record.contentHash && !record.reuse.directives.forbidStoring
    }
}
