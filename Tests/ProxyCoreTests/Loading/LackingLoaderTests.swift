// SPDX-License-Identifier: Apache-2.0

import ProxyCore
import TestSupport
import Testing

@Suite("A loader that lacks something of the kernel")
struct LackingLoaderTests {
    @Test("lives on although libcurl can't wait for sockets, whose poll(2) fails: only fetches fail")
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
            // libcurl asks poll(2) whether it is connected, too.
            await expectFailure(.unreachable) {
                try await loader.load(request, into: CollectingReceiver())
            }
            #expect(await loader.ping())
        }
        await loader.stop()
    }
}
