// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("The admin socket")
struct AdminSocketTests {
    @Test("The log says so when the admin socket is removed with the cache folder", .timeLimit(.minutes(20)))
    func removed() async throws {
        let proxy = try await Proxy(environment: ["IMAGEPROXYD_CACHE_DISK_SWEEP_INTERVAL=1s"])
        let path = proxy.folder.path + "/cache/admin.sock"

        try proxy.folder.remove("cache")
        // By real time, as often as can be set: no test advances the clock of a process.
        while !proxy.daemon.log.contains("the folder was replaced") { await Task.yield() }

        while !proxy.daemon.log.contains("the admin socket \(path) was removed: a restart creates it") {
            await Task.yield()
        }
    }
}
