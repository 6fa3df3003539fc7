// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Loading
@testable import URLs

@Suite("A loader when a system call fails")
struct LackingLoaderTests {
    @Test("continues when poll(2) fails for libcurl: only fetches fail")
    func poll() async throws {
        let origin = try FakeOrigin()
        origin.route("/a", .body([1, 2, 3]))
        var addresses = AddressConfiguration()
        addresses.allowedNetworks = ["127.0.0.1/32"]
        let policy = try AddressPolicy(configuration: addresses)
        let loader = try await LackingKernel.make(without: ["poll", "ppoll"]) {
            try CurlLoader(configuration: FetchConfiguration(), addresses: policy)
        }
        let request = try OriginRequest(url: SourceURL(parsing: origin.url("/a")))

        for _ in 1...3 {
            // libcurl also uses poll(2) to check its connection.
            await expectFailure(.unreachable) {
                try await loader.load(request, into: CollectingReceiver())
            }
            #expect(await loader.ping())
        }
        await loader.stop()
    }
}
