// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite(
    "A daemon whose disk is full",
    .enabled(if: SmallFileSystem.isAvailable, "needs the right to mount a tmpfs"))
struct FullDiskTests {
    @Test(
        "A daemon with a full disk answers from the origin and its memory, and counts what it could not store"
    )
    func fullDisk() async throws {
        let small = try #require(try SmallFileSystem(size: "6m"))
        let proxy = try await Proxy(in: small.folder)
        let large = Fixtures.photo + [UInt8](repeating: 7, count: 900_000)
        for number in 0..<12 {
            proxy.origin.route(
                "/\(number).jpg", .body(large + [UInt8(number)], fields: [("Cache-Control", "max-age=600")]))
        }

        for number in 0..<12 {
            let untouched = try await proxy.get(proxy.target("/\(number).jpg"))
            #expect(untouched.status == 200 && untouched.body == large + [UInt8(number)], "\(number)")
            let small = try await proxy.get(
                proxy.target("/\(number).jpg", "transform=resize:400x&format=png"))
            #expect(small.status == 200 && small.pngSize == [400, 267], "\(number)")
        }
        #expect(try await proxy.metric("imageproxyd_cache_write_errors_total{tier=\"disk\"}") > 0)
    }
}
