// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("A read-only cache folder")
struct ReadOnlyPathTests {
    private static let fields = [("Cache-Control", "max-age=600")]

    /// A folder with `/a.jpg` and a result of it, made by a daemon that has ended.
    private func readOnlyFolder(_ origin: FakeOrigin) async throws -> TemporaryDirectory {
        origin.route("/a.jpg", .body(Fixtures.photo, fields: Self.fields))
        let first = try await Proxy(origin: origin)
        _ = try await first.get(first.target("/a.jpg"))
        _ = try await first.get(first.target("/a.jpg", "transform=resize:48x&format=png"))
        first.daemon.send(signal: 15)
        _ = try await first.daemon.exitCode()
        return first.folder
    }

    private func settings(_ folder: TemporaryDirectory) -> [String] {
        ["IMAGEPROXYD_CACHE_DISK_READ_ONLY_PATHS=\(folder.path)/cache"]
    }

    @Test("A read-only folder answers without the origin, original and result, and stays unchanged")
    func answers() async throws {
        let origin = try FakeOrigin()
        let folder = try await readOnlyFolder(origin)
        let before = folder.files
        let asked = origin.count("/a.jpg")
        let proxy = try await Proxy(origin: origin, environment: settings(folder))

        for _ in 0..<3 {
            #expect(try await proxy.get(proxy.target("/a.jpg")).body == Fixtures.photo)
            let result = try await proxy.get(proxy.target("/a.jpg", "transform=resize:48x&format=png"))
            #expect(result.status == 200 && result.pngSize?.first == 48)
        }
        // What the folder does not contain is made from what it contains.
        #expect(
            try await proxy.get(proxy.target("/a.jpg", "transform=resize:32x&format=png")).pngSize?.first
                == 32)

        #expect(origin.count("/a.jpg") == asked)
        #expect(folder.files == before)
    }

    @Test(
        "A damaged file in a read-only folder is not used: the picture is fetched, and stored in the writable folder"
    )
    func damaged() async throws {
        let origin = try FakeOrigin()
        let folder = try await readOnlyFolder(origin)
        for file in folder.files where file.hasPrefix("cache/originals/") || file.hasPrefix("cache/results/")
        {
            var bytes = try folder.read(file)
            bytes[bytes.count - 1] ^= 1
            try folder.write(bytes, to: file)
        }
        let asked = origin.count("/a.jpg")
        let proxy = try await Proxy(origin: origin, environment: settings(folder))

        for _ in 0..<3 { #expect(try await proxy.get(proxy.target("/a.jpg")).body == Fixtures.photo) }

        #expect(origin.count("/a.jpg") == asked + 1)
    }
}
