// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Logging
import TestSupport
import Testing

@testable import ImageProxyd
@testable import Imaging
@testable import Observability
@testable import Primitives
@testable import Rendering
@testable import Request

@Suite("Prefetch orders while the daemon stops")
struct PrefetchStopTests {
    private static func service(in folder: TemporaryDirectory) -> PrefetchService {
        PrefetchService(
            configuration: PrefetchConfiguration(), path: folder.path + "/prefetch.json", workers: 2,
            metrics: Metrics(loops: 1, version: "test"), logger: Logger(label: "test"))
    }

    private static func maker() throws -> (proxy: ClockedProxy, maker: PrefetchMaker) {
        let proxy = try ClockedProxy(
            received: WallTime(seconds: SystemTime.seconds()), renderer: InProcessRenderer())
        let maker = PrefetchMaker(
            pipeline: proxy.pipeline, parser: proxy.parser,
            automatic: AutomaticFormats(FormatsConfiguration().auto), isSigned: false)
        return (proxy, maker)
    }

    /// Whether an order is refused because the daemon stops.
    private static func isRefused(by service: PrefetchService, _ url: String) async throws -> Bool {
        try await onThread {
            let body = try PrefetchBody(["urls": .strings([url])])
            do throws(AdminFailure) {
                _ = try service.submit(body)
                return false
            } catch {
                if case .stopped = error { return true }
                throw error
            }
        }
    }

    @Test("One that comes afterwards is refused")
    func afterwards() async throws {
        let service = Self.service(in: try TemporaryDirectory())
        let (proxy, maker) = try Self.maker()
        service.begin { maker }

        await service.stop()

        #expect(try await Self.isRefused(by: service, proxy.origin.url("/0.jpg")))
    }

    @Test("One that is being checked then is refused, too, and not lost")
    func meanwhile() async throws {
        let service = Self.service(in: try TemporaryDirectory())
        let (proxy, maker) = try Self.maker()
        service.begin {
            let hasStopped = DispatchSemaphore(value: 0)
            Task {
                await service.stop()
                hasStopped.signal()
            }
            hasStopped.wait()
            return maker
        }

        #expect(try await Self.isRefused(by: service, proxy.origin.url("/0.jpg")))
        #expect(service.all.present.isEmpty && service.all.ended.isEmpty)
    }
}
