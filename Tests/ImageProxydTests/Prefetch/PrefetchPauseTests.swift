// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization
import TestSupport
import Testing

@testable import Answering
@testable import Bodies
@testable import ImageProxyd
@testable import Imaging
@testable import Observability
@testable import Primitives
@testable import Rendering
@testable import Request

@Suite("Pauses of prefetch orders")
struct PrefetchPauseTests {
    /// A renderer without a place for its first jobs.
    private final class BusyRenderer: ImageRendering {
        private let refusals: Mutex<Int>
        private let renderer = InProcessRenderer()

        init(refusals: Int) { self.refusals = Mutex(refusals) }

        func render(
            _ plan: RenderPlan, from source: StoredBody, into destination: OwnedDescriptor, at offset: Int64,
            intermediateTarget: FilePlace?, for interest: Waiters
        ) async throws(RenderError) -> Rendition {
            let isBusy = refusals.withLock { refusals in
                refusals -= 1
                return refusals >= 0
            }
            if isBusy { throw .queueFull }
            return try await renderer.render(
                plan, from: source, into: destination, at: offset, intermediateTarget: intermediateTarget,
                for: interest)
        }
    }

    /// What becomes of an order for some photos, by a clock whose sleeps end at once.
    private func end(
        photos: Int, refusals: Int, _ members: JSONValue = [:], by time: PassingTime
    ) async throws -> PrefetchProgress {
        let folder = try TemporaryDirectory()
        let proxy = try ClockedProxy(
            received: WallTime(seconds: SystemTime.seconds()), renderer: BusyRenderer(refusals: refusals))
        let paths = (0..<photos).map { "/\($0).jpg" }
        for (number, path) in paths.enumerated() { proxy.origin.route(path, PrefetchTests.photo(number)) }
        let service = PrefetchService(
            configuration: PrefetchConfiguration(), path: folder.path + "/prefetch.json", workers: 2,
            metrics: Metrics(loops: 1, version: "test"), logger: Logger(label: "test"), timer: time)
        let maker = PrefetchMaker(
            pipeline: proxy.pipeline, parser: proxy.parser,
            automatic: AutomaticFormats(FormatsConfiguration().auto), isSigned: false)
        service.begin { maker }
        let content = members.setting(["urls"], to: .strings(paths.map { proxy.origin.url($0) }))
            .setting(["transforms"], to: .strings(["resize:20x"]))
        let token = try service.submit(PrefetchBody(content)).token
        while service.progress(of: token)?.ended == nil { await Task.yield() }
        let progress = try #require(service.progress(of: token))
        await service.stop()
        return progress
    }

    @Test("An image that fails because too much is waiting is tried again after 1, 2, 4 and 8 s")
    func busyForGood() async throws {
        let time = PassingTime()

        let end = try await end(photos: 1, refusals: 9, by: time)

        #expect(end.failed == 1 && end.reasons.map(\.code) == ["queue_full"])
        #expect(time.sleeps == [1, 2, 4, 8].map { .seconds($0) })
    }

    @Test("It is tried no more once it is made")
    func busyForAWhile() async throws {
        let time = PassingTime()

        let end = try await end(photos: 1, refusals: 2, by: time)

        #expect(end.finished == 1 && end.failed == 0)
        #expect(time.sleeps == [1, 2].map { .seconds($0) })
    }

    @Test("An order with a rate begins its next source when that permits it")
    func rate() async throws {
        let time = PassingTime()

        let end = try await end(photos: 3, refusals: 0, ["rate": .number(0.5)], by: time)

        #expect(end.finished == 3)
        #expect(time.sleeps == [2, 2].map { .seconds($0) })
    }
}
