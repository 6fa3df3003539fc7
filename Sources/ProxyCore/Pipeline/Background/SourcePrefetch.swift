// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness
import Primitives
package import Request

/// Makes images of one source before a client requests them, one after the other (SDWebImage's prefetcher).
///
/// The source is fetched, or read, once for all of them, also where no tier stores originals. Remembered failures
/// count as for a client.
package struct SourcePrefetch: Sendable {
    /// What became of one image.
    package enum Outcome: Sendable {
        /// It was made now and stored; it has so many bytes.
        case made(bytes: Int)
        /// A tier had it, fresh.
        case stored
        /// It could be made, but no tier may hold it, or none could.
        case unstorable
        case failed(PipelineError)
    }

    private let pipeline: ImagePipeline
    private let places: PrefetchSlots
    private let timer: any Clock<Duration>
    /// The source once it is known, and the token that was issued before.
    private var known: (source: Source, token: PurgeToken)?

    /// - Parameters:
    ///   - pipeline: that of the current settings.
    ///   - places: those of all prefetches.
    ///   - timer: what the end of a purge is waited by.
    package init(
        _ pipeline: ImagePipeline, _ places: PrefetchSlots, timer: any Clock<Duration> = ContinuousClock()
    ) {
        (self.pipeline, self.places, self.timer) = (pipeline, places, timer)
    }

    /// Makes an image, unless a tier has it. All requests must be for the same source.
    package mutating func image(for request: ImageRequest) async -> Outcome {
        // An image for one client alone can't be made without a client.
        guard !request.delivery.options.contains(.handleCookies) else { return .unstorable }
        if await pipeline.isStored(request) {
            _ = await pipeline.tiers.linkTags(of: request)
            return .stored
        }
        var request = request
        request.delivery.priority = .low
        let outcome = await made(request)
        guard case .unstorable = outcome, let known, !known.token.isValid else { return outcome }
        // What was fetched before a purge may not be stored, whatever was purged: it is fetched once more.
        self.known = nil
        for _ in 0..<Self.maxWaits where pipeline.tiers.purgeLog.isPurgingAll {
            // Ignored: that the order was cancelled; its next image is not begun.
            try? await timer.sleep(for: Self.wait)
        }
        return await made(request)
    }

    /// How often the end of a purge of many sources is waited for, and how long each time.
    private static let maxWaits = 60
    private static let wait = Duration.milliseconds(500)

    private mutating func made(_ request: ImageRequest) async -> Outcome {
        do throws(PipelineError) {
            let response = try await response(to: request)
            switch response.provenance {
            case .stale(.onError(let error, _)): return .failed(error)
            // What goes out as it came is stored as the original that was found.
            case .stored where response.description.kind == .original: return .stored
            case .memory, .disk: return .stored
            case .shared, .stored, .revalidated, .fetched, .stale:
                return response.isStored ? .made(bytes: response.body.count) : .unstorable
            }
        } catch {
            return .failed(error)
        }
    }

    private mutating func response(to request: ImageRequest) async throws(PipelineError) -> ImageResponse {
        var job = ImageJob(
            pipeline, request, directives: try await directives(for: request),
            context: FetchContext(isPrefetch: true))
        if let known {
            job.token = known.token.extended(to: request.resultKey)
        } else if !job.directives.onlyIfCached {
            known = (try await job.original(of: try await job.usableSource()), job.token)
        }
        job.given = (known?.source).map(Source.Given.init)
        return try await places.with { [job] () async throws(PipelineError) in try await job.resultOfTask() }
    }

    /// What the options ask of the cache, but for those that would ask an origin that has just failed; nothing stale,
    /// as it would have to be made again at once.
    private func directives(for request: ImageRequest) async throws(PipelineError) -> RequestDirectives {
        var directives = RequestDirectives(
            request.delivery.options.intersection([.memoryOnly, .fromCacheOnly]))
        guard known == nil,
            let record = try await pipeline.tiers.usableRecord(for: request, client: nil),
            !record.isFresh(at: pipeline.clock())
        else { return directives }
        directives.minFresh = 0
        return directives
    }
}

extension ImagePipeline {
    /// Whether a tier has an image that a client would be answered with as it is.
    fileprivate func isStored(_ request: ImageRequest) async -> Bool {
        let now = clock()
        if let entry = tiers.peek(request.resultKey),
            serves(entry.description, entry.record, request, at: now),
            freshness.reuse(of: entry.record, at: now, for: .none) == .fresh
        {
            return true
        }
        return await lookUpOnDisk(request, for: nil) != nil
    }
}
