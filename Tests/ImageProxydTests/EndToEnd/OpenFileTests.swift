// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite("Hits of the disk tier")
struct OpenFileTests {
    private func entryFiles(_ proxy: Proxy) -> [String] {
        let find = popen(
            "find \(proxy.folder.path)/cache -type f -size +50k ! -name 'index*'", "r")
        defer { pclose(find) }
        var files: [String] = []
        var line = [CChar](repeating: 0, count: 4_096)
        while fgets(&line, Int32(line.count), find) != nil {
            files.append(
                String(
                    decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self
                ))
        }
        return files
    }

    @Test(
        "Hits are answered from the open file until it is altered or removed: then the image is fetched again"
    )
    func openFile() async throws {
        let proxy = try await Proxy(
            results: "disk", environment: ["IMAGEPROXYD_CACHE_DISK_LIMITS_STORE_DELAY=0s"])
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600")]))
        let target = proxy.target("/photo.jpg")

        for _ in 0..<4 { #expect(try await proxy.get(target).body == Fixtures.photo) }
        #expect(try await proxy.get(target)["Cache-Status"]?.hasSuffix("; detail=disk") == true)
        #expect(proxy.origin.count("/photo.jpg") == 1)

        // One byte in the middle of the body, in place.
        let file = try #require(entryFiles(proxy).first)
        let descriptor = open(file, O_RDWR)
        var byte: UInt8 = 0
        #expect(pread(descriptor, &byte, 1, 40_000) == 1)
        byte ^= 0xFF
        #expect(pwrite(descriptor, &byte, 1, 40_000) == 1)
        close(descriptor)
        #expect(try await proxy.get(target).body == Fixtures.photo)
        #expect(proxy.origin.count("/photo.jpg") == 2)

        for _ in 0..<3 { #expect(try await proxy.get(target).body == Fixtures.photo) }
        for file in entryFiles(proxy) { unlink(file) }
        #expect(try await proxy.get(target).body == Fixtures.photo)
        #expect(proxy.origin.count("/photo.jpg") == 3)
    }
}
