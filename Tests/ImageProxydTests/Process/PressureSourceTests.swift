// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Memory pressure")
struct PressureSourceTests {
    @Test("Memory pressure is watched at the path that systemd gives, with its trigger")
    func systemd() {
        let environment = [
            "MEMORY_PRESSURE_WATCH": "/sys/fs/cgroup/a/memory.pressure",
            // some 200000 2000000, and the end
            "MEMORY_PRESSURE_WRITE": "c29tZSAyMDAwMDAgMjAwMDAwMAA=",
        ]

        let found = PressureSource.candidates(environment: environment, controlGroups: "0::/b\n")

        #expect(
            found == [
                PressureSource(
                    path: "/sys/fs/cgroup/a/memory.pressure", trigger: PressureSource.defaultTrigger)
            ])
    }

    @Test("Memory pressure is not watched if systemd says so")
    func switchedOff() {
        for path in ["/dev/null", ""] {
            #expect(
                PressureSource.candidates(
                    environment: ["MEMORY_PRESSURE_WATCH": path], controlGroups: "0::/b\n"
                ).isEmpty)
        }
    }

    @Test("Without systemd, the pressure is that of the control group, or else of the machine")
    func kernel() {
        let found = PressureSource.candidates(
            environment: [:], controlGroups: "1:name=systemd:/x\n0::/system.slice/a.service\n")

        #expect(
            found.map(\.path) == [
                "/sys/fs/cgroup/system.slice/a.service/memory.pressure", "/proc/pressure/memory",
            ])
        #expect(found.allSatisfy { $0.trigger == PressureSource.defaultTrigger })
    }

    @Test("Under memory pressure the memory cache shrinks to half, and the daemon logs it")
    func daemon() async throws {
        let folder = try TemporaryDirectory()
        let fifo = folder.path + "/pressure"
        #expect(mkfifo(fifo, 0o600) == 0)
        let proxy = try await Proxy(
            in: folder,
            environment: [
                "MEMORY_PRESSURE_WATCH=\(fifo)", "IMAGEPROXYD_CACHE_MEMORY_MAX_BYTES=1MiB",
            ])
        for number in 0..<20 {
            proxy.origin.route(
                "/\(number).jpg",
                .body(Fixtures.photo(number: number), fields: [("Cache-Control", "max-age=600")]))
            _ = try await proxy.get(proxy.target("/\(number).jpg"))
        }
        let bytes = "imageproxyd_cache_bytes{tier=\"memory\",kind=\"result\"}"
        let before = try await proxy.metric(bytes)
        #expect(before > 0)

        let descriptor = open(fifo, O_WRONLY)
        #expect(write(descriptor, "1", 1) == 1)
        close(descriptor)

        while try await proxy.metric("imageproxyd_cache_evictions_total{tier=\"memory\",reason=\"pressure\"}")
            == 0
        {}
        #expect(try await proxy.metric(bytes) < before)
        #expect(proxy.daemon.log.contains("memory is short"))
        // What was evicted from memory is still on disk.
        #expect(try await proxy.get(proxy.target("/0.jpg")).status == 200)
    }
}
