// SPDX-License-Identifier: Apache-2.0

import Cache
import Loading
internal import Logging
import Observability
import Pipeline
import Primitives
import Sharing
import Synchronization
import URLs

/// What this node shares with others: the bucket, and the nodes themselves. Exists as long as the process.
final class Cluster: Sendable {
    /// The tier that nodes share; nil without a bucket.
    let tier: SharedTier?
    /// The other nodes; nil without any.
    let peers: ClusterPeers?
    /// The homes of sources, where this node asks them; nil where it does not.
    let homes: ClusterHomes?
    /// What nodes sign requests to each other with.
    let key: ClusterKey?
    /// This node's name, another one after each start.
    let node: String
    /// Sends requests to the bucket, and purges to other nodes.
    private let loader: CurlLoader
    /// Asks homes; nil where this node asks none.
    private let homeLoader: CurlLoader?
    /// Bounds the pictures that are being sent to other nodes.
    let answers: ByteBudget
    private let logger: Logger
    private let position: JournalPosition
    /// The purges of all nodes where there is no bucket; where there is one, its journal has them.
    private let seen = SeenPurges()
    private let maintenance = Mutex<[Task<Void, Never>]>([])

    /// Creates the parts that the settings name; nil where they name none. Nothing is asked yet.
    /// - Parameter cacheDirectory: the folder of the disk tier.
    init?(
        _ configuration: ProxyConfiguration, _ files: NamedFiles, cacheDirectory: String, metrics: Metrics,
        logger: Logger
    ) throws(CurlLoader.SetupError) {
        guard files.store != nil || !configuration.cluster.peers.isEmpty else { return nil }
        let maxBytes = max(configuration.fetch.maxBytes.bytes, configuration.cache.memory.maxEntryBytes.bytes)
        loader = try CurlLoader(
            configuration: SharedTier.loaderConfiguration(configuration.shared, maxEntryBytes: maxBytes),
            addresses: .unrestricted, redirectPolicy: { _ in false })
        tier = files.store.map { [loader] place in
            SharedTier(
                configuration.shared,
                store: ObjectStore(configuration.shared, at: place, loader: loader) {
                    operation, nanoseconds in
                    metrics.sharedDuration.observe(
                        nanoseconds: nanoseconds, Metric.SharedOperation(operation))
                }, maxEntryBytes: maxBytes, unwritten: cacheDirectory + "/purges-unwritten")
        }
        node = tier?.journal.node ?? String(UInt64.random(in: 0...UInt64.max), radix: 16)
        key = files.clusterKey.map { ClusterKey($0) }
        if let key, !configuration.cluster.peers.isEmpty {
            peers = ClusterPeers(configuration.cluster, key: key, node: node, loader: loader)
        } else {
            peers = nil
        }
        answers = ByteBudget(configuration.shared.objectBytes.bytes)
        if configuration.cluster.forward, let peers, let key {
            let homeLoader = try CurlLoader(
                configuration: ClusterHomes.loaderConfiguration(maxEntryBytes: maxBytes),
                addresses: .unrestricted, redirectPolicy: { _ in false })
            homes = ClusterHomes(
                peers, key: key, own: Self.ownAddresses(configuration), maxEntryBytes: maxBytes,
                maxBytes: configuration.shared.objectBytes.bytes, loader: homeLoader,
                isPurged: { [tier, seen] subject, age in
                    tier?.isPurged(subject, ofAge: age) ?? seen.isPurged(subject, ofAge: age)
                })
            self.homeLoader = homeLoader
        } else {
            (homes, homeLoader) = (nil, nil)
        }
        position = JournalPosition(folder: cacheDirectory)
        self.logger = logger
    }

    private static func ownAddresses(_ configuration: ProxyConfiguration) -> Set<String> {
        if let named = ClusterPeer(configuration.cluster.address) { return [named.name] }
        let ports = configuration.listen.compactMap { $0.split(separator: ":").last.flatMap { Int($0) } }
        return Set(ClusterHomes.localHosts().flatMap { host in ports.map { "\(host):\($0)" } })
    }

    // MARK: - Purging

    /// What a purge came to.
    struct Purged: Sendable {
        var counts: PurgeCounts
        /// In the store; nil without one.
        var shared: SharedPurgeOutcome?
        /// At the other nodes; nil without any.
        var peers: ClusterPeers.Outcome?
    }

    /// Purges here, in the store, and at all other nodes.
    /// - Throws: why the disk tier could not do it; the others have done it all the same, as far as they could.
    func purge(_ target: PurgeTarget, by pipeline: ImagePipeline) async throws(DiskCacheError) -> Purged {
        let purge = begin(target)
        var result: Result<PurgeCounts, DiskCacheError>
        do throws(DiskCacheError) {
            result = .success(try await pipeline.purge(target))
        } catch {
            result = .failure(error)
        }
        // Ignored: nothing; the error is thrown below, once the others have been asked.
        let sources = (try? result.get().sources) ?? []
        async let shared = tier?.end(purge, tagged: sources)
        async let broadcast = peers?.broadcast(purge)
        let (outcome, reached) = await (shared, broadcast)
        await purgeSources(sources, of: purge, areDeleted: true)
        return Purged(counts: try result.get(), shared: outcome, peers: reached)
    }

    /// From now on this node uses nothing of the store from before the purge.
    private func begin(_ target: PurgeTarget) -> SharedPurge {
        tier?.begin(target) ?? seen.newPurge(target, node: node)
    }

    /// Does a purge that another node reports, unless it is done already. One that fails is done when the journal is read, or
    /// when it is reported again.
    /// - Returns: false where the message is too old, or a clock too wrong, to be done.
    func apply(_ purge: SharedPurge, by pipeline: ImagePipeline) async throws(DiskCacheError) -> Bool {
        switch tier?.journal.note(purge) ?? seen.note(purge) {
        case .outOfTime: return false
        case .known: return true
        case .new: break
        }
        guard purge.node != node else { return true }
        try await perform(purge, by: pipeline)
        if let tier { tier.journal.didPerform(purge) } else { seen.didPerform(purge) }
        return true
    }

    /// Does a purge of another node here. What a tag hangs on only here may be elsewhere without it: the nodes that read the
    /// journal purge its sources.
    private func perform(_ purge: SharedPurge, by pipeline: ImagePipeline) async throws(DiskCacheError) {
        let counts = try await pipeline.purge(purge.target)
        await purgeSources(counts.sources, of: purge, areDeleted: false)
    }

    /// Purges each source of a purge by tag for the nodes where the source lacks the tag.
    /// - Parameter areDeleted: whether the store's objects of the sources are deleted already.
    private func purgeSources(_ sources: Set<CacheKey>, of purge: SharedPurge, areDeleted: Bool) async {
        guard let tier else { return }
        for source in sources where !tier.journal.isPurged(source, since: purge) {
            let own = tier.begin(.source(source))
            let problem = areDeleted ? await tier.write(own) : await tier.end(own).problem
            if let problem { logger.warning("a source of a purged tag: \(problem)") }
        }
    }

    // MARK: - Starting and stopping

    /// Reads the journal of purges, and goes on to read it; returns when the first reading has ended, or after some seconds.
    ///
    /// - Parameter isEmpty: whether the disk tier holds nothing, so that no purge from before concerns it.
    func start(isEmpty: Bool, pipeline: @escaping @Sendable () -> ImagePipeline) async {
        guard let tier else { return }
        tier.journal.loadUnwritten()
        let start = isEmpty ? SystemTime.seconds() * 1_000 - Self.overlap : position.read() - Self.overlap
        let first = Promise<Bool>()
        let task = Task { [logger, position] in
            let hasFailed = Atomic(false)
            await tier.maintain(from: start) { purge in
                do throws(DiskCacheError) {
                    try await self.perform(purge, by: pipeline())
                    return true
                } catch {
                    logger.error(
                        "a purge of another node could not be done here, and is tried again: \(error)")
                    return false
                }
            } didRead: { outcome in
                switch outcome {
                case .success(let time):
                    position.write(time)
                    if hasFailed.exchange(false, ordering: .relaxed) {
                        logger.notice("the journal of purges is read again")
                    }
                    first.set(true)
                case .failure(let error):
                    if !hasFailed.exchange(true, ordering: .relaxed) {
                        logger.warning(
                            "the journal of purges can't be read, so the shared tier is not used: \(error)")
                    }
                }
            }
        }
        let sweeps = Task { await tier.sweepContinually() }
        maintenance.withLock { $0 = [task, sweeps] }
        await first.wait(atMost: Self.startTimeout)
    }

    /// Purges from this time before the last start's end are done again, in milliseconds.
    private static let overlap: Int64 = 600_000
    /// How long the start waits for the store.
    private static let startTimeout = Duration.seconds(3)

    /// Ends the exchanges; what waits to be uploaded is lost.
    func stop() async {
        for task in maintenance.withLock({ $0 }) { task.cancel() }
        await homeLoader?.stop()
        await loader.stop()
    }
}

extension Metric.SharedOperation {
    init(_ operation: SharedStatistics.Operation) {
        self =
            switch operation {
            case .get: .get
            case .put: .put
            case .delete: .delete
            case .list: .list
            }
    }
}
