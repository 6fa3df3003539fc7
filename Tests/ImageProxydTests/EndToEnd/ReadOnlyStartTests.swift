// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite(
    "A daemon that starts on a read-only file system",
    .enabled(if: SmallFileSystem.isAvailable, "needs the right to mount a tmpfs"))
struct ReadOnlyStartTests {
    /// A folder whose `cache` is on a file system of its own, which is read-only.
    private static func folder() throws -> (TemporaryDirectory, SmallFileSystem) {
        let small = try #require(try SmallFileSystem(size: "1m"))
        let folder = try TemporaryDirectory()
        try #require(symlink(small.folder.path, folder.path + "/cache") == 0)
        try small.beginReadOnly()
        return (folder, small)
    }

    @Test("The daemon serves from its origin and its memory, without an admin socket")
    func serves() async throws {
        let (folder, small) = try Self.folder()
        let proxy = try await Proxy(in: folder)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600")]))
        let target = proxy.target("/a.jpg", "transform=resize:48x&format=png")

        let answers = [try await proxy.get(target), try await proxy.get(target)]

        #expect(answers.allSatisfy { $0.status == 200 && $0.pngSize?[0] == 48 })
        #expect(answers[1]["Cache-Status"]?.contains("hit") == true)
        #expect(proxy.daemon.log.contains("no admin listener: "))
        proxy.daemon.send(signal: SIGTERM)
        #expect(try await proxy.daemon.exitCode() == 0)
        small.endReadOnly()
    }

    @Test(
        "The admin socket is created in the user's runtime folder if that belongs to the user alone",
        arguments: [0o700, 0o755])
    func runtimeFolder(mode: mode_t) async throws {
        let (folder, small) = try Self.folder()
        let runtime = try TemporaryDirectory()
        chmod(runtime.path, mode)
        let proxy = try await Proxy(in: folder, environment: ["XDG_RUNTIME_DIR=\(runtime.path)"])
        let path = runtime.path + "/imageproxyd-admin.sock"

        if mode == 0o700 {
            let status = try await onThread {
                let client = try RawHTTPClient(unixSocket: path)
                defer { client.hangUp() }
                try client.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                return try client.answer().status
            }
            #expect(status == 200)
        } else {
            #expect(access(path, F_OK) != 0)
            #expect(proxy.daemon.log.contains("no admin listener: "))
        }
        small.endReadOnly()
    }

    @Test("The daemon does not start without the admin socket that the settings name, and prints the reason")
    func namedSocket() async throws {
        let (folder, small) = try Self.folder()
        try folder.write(
            Array(
                """
                {"listen": ["unix:\(folder.path)/http.sock"], "cache": {"disk": {"directory": "\(folder.path)/cache"}}, \
                "admin": {"listen": ["unix:\(folder.path)/cache/admin.sock"]}}
                """.utf8), to: "config.json")

        let outcome = try await OtherProgram.run(
            DaemonProcess.executable, ["serve", "--config", folder.path + "/config.json"],
            environment: ["HOME": folder.path])

        #expect(outcome.code == 1)
        #expect(
            outcome.errors.contains("can't listen on unix:\(folder.path)/cache/admin.sock: ")
                && outcome.errors.contains("Read-only file system"))
        small.endReadOnly()
    }
}
