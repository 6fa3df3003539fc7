// SPDX-License-Identifier: Apache-2.0

import Bodies
package import Cache
import Freshness
import Imaging
import Observability
package import Primitives
import Rendering
package import Request
import Synchronization

extension ImagePipeline {
    /// Hot path: whether a better result is to be made in place of an entry that is requested again; true
    /// once in a minute.
    package func shouldImprove(_ entry: MemoryEntry, at now: Int64) -> Bool {
        configuration.improve.enabled && entry.shouldImprove(at: now, every: Self.improvementInterval)
    }

    /// Has a better result made in place of an entry, when workers are idle.
    ///
    /// - Parameters:
    ///   - client: the client that requests it again.
    ///   - request: called on a task; nil when the request can't be read.
    package func improve(
        _ entry: MemoryEntry, for client: ClientID?, as request: @escaping @Sendable () -> ImageRequest?
    ) {
        Task {
            if let request = request() { improve(request, for: client) }
        }
    }

    /// Seconds between two tries for one entry.
    private static let improvementInterval: Int64 = 60

    /// Has a better result made in place of one that was found in a tier and was made fast.
    package func improve(_ image: ImageResponse, as request: ImageRequest, for client: ClientID?) {
        guard configuration.improve.enabled, image.description.stage.isImprovable else { return }
        switch image.provenance {
        case .memory, .disk, .shared, .stale: improve(request, for: client)
        case .stored, .revalidated, .fetched: return
        }
    }

    private func improve(_ request: ImageRequest, for client: ClientID?) {
        let request = request.plan == nil ? request.made(by: configuration.rasterPlan) : request
        let now = clock().seconds
        let (isWaiting, next) = improvements.withLock { queue in
            (queue.add(request, for: client), queue.begin(at: now))
        }
        if !isWaiting { metrics.transformImprovements.increment(.refused) }
        guard let next else { return }
        Task { await improveAll(from: next) }
    }

    /// Seconds for which clients may store a result that a better one will replace, counted from when it was made; nil for any
    /// other.
    package func shortLifetime(of description: EntryDescription) -> Int64? {
        guard description.stage == .cheapest || description.stage == .fast && configuration.improve.enabled
        else { return nil }
        return Int64(configuration.improve.maxAge.seconds)
    }

    /// Results that wait to be made once more.
    package var improvementCount: Int { improvements.withLock { $0.count } }

    // MARK: - One after the other

    private func improveAll(from first: ImprovementQueue.Item) async {
        var next: ImprovementQueue.Item? = first
        while let item = next {
            var job = ImageJob(self, item.request)
            job.waiters = Waiters(isBackground: true)
            let outcome = await job.improve()
            metrics.transformImprovements.increment(outcome)
            let now = clock().seconds
            next = improvements.withLock { queue in
                queue.end(item, wasInterrupted: outcome == .interrupted, at: now)
                return queue.begin(at: now)
            }
        }
    }

    /// The most work of a job that no client waits for, in weighted megapixels: it ends with a client's job, but a worker that is
    /// ended has to be started.
    static let mostImprovementWork = 80

    // MARK: - Which results

    /// How a result was made: decides whether it is made again.
    func stage(of rendition: Rendition, by plan: RenderPlan) -> ResultStage {
        if rendition.isCheapest { return .cheapest }
        guard plan.effort == .fast, plan.format != .information, rendition.format.traits.hasFastEffort else {
            return .final
        }
        return isWorthImproving(rendition, plan) ? .fast : .kept
    }

    /// Whether a result is to be made once more: not one of the best quality within `max_bytes`, since its size says nothing, nor one
    /// that would keep a worker for long.
    private func isWorthImproving(_ rendition: Rendition, _ plan: RenderPlan) -> Bool {
        guard configuration.improve.enabled, plan.maxBytes == nil else { return false }
        var plan = plan
        plan.effort = .full
        let work = WorkEstimate(header: rendition.source.header, frames: rendition.frames, plan: plan)
        let pixels = Double(rendition.width * rendition.height * rendition.frames) / 1_000_000
        return work.cost(of: rendition.format) * pixels <= Double(Self.mostImprovementWork) * 3 / 4
    }
}
