// SPDX-License-Identifier: Apache-2.0

import Glibc
import HTTPServer
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Sockets that systemd opened")
struct InheritedSocketTests {
    private func start(
        in folder: TemporaryDirectory, names: String, sockets: [ListeningSocket]
    ) async throws -> DaemonProcess {
        try await DaemonProcess.start(
            in: folder.path,
            configuration: """
                {"transform": {"workers": 1}, "cache": {"disk": {"directory": "\(folder.path)/cache"}}}
                """,
            environment: ["LISTEN_FDS=\(sockets.count)", "LISTEN_FDNAMES=\(names)"],
            sockets: sockets.map(\.descriptor))
    }

    private func status(at path: String, _ target: String) async throws -> Int {
        try await onThread {
            let client = try RawHTTPClient(unixSocket: path)
            defer { client.hangUp() }
            try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
            return try client.answer().status
        }
    }

    @Test(
        "Inherited sockets replace listen and admin.listen, also after a reload, and workers do not get them")
    func served() async throws {
        let folder = try TemporaryDirectory()
        let paths = ["public", "admin"].map { "\(folder.path)/\($0).sock" }
        let sockets = try paths.map { try ListeningSocket(at: $0) }
        let daemon = try await start(in: folder, names: "public:admin", sockets: sockets)

        #expect(try await status(at: paths[0], "/healthz") == 200)
        #expect(try await status(at: paths[0], "/failed") == 404)
        #expect(try await status(at: paths[1], "/failed") == 200)
        #expect(!folder.files.contains("http.sock"))
        let notes = try await daemon.reload(
            configuration: "{\"cache\": {\"disk\": {\"directory\": \"\(folder.path)/cache\"}}}")
        #expect(notes.last?.contains("STATUS=serving") == true)
        #expect(try await status(at: paths[0], "/healthz") == 200)
        #expect(daemon.log.contains("listening on unix:\(paths[0]), opened by systemd"))
        let worker = try #require(children(of: daemon.pid).first)
        let environment = TextFiles.contents(ofFile: "/proc/\(worker)/environ")
        #expect(environment == "MALLOC_ARENA_MAX=1\0")
        let open = try #require(opendir("/proc/\(worker)/fd"))
        defer { closedir(open) }
        var count = 0
        while readdir(open) != nil { count += 1 }
        // Standard files, the socket to the daemon, `.` and `..`, and what libraries keep open; not two
        // sockets more.
        let inodes = sockets.map { inode($0.descriptor) }
        #expect(count > 5)
        for number in 0..<64 {
            var facts = stat()
            guard stat("/proc/\(worker)/fd/\(number)", &facts) == 0 else { continue }
            #expect(!inodes.contains(facts.st_ino))
        }
    }

    @Test("Inherited sockets keep their backlog and their path for the next daemon")
    func handedOn() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/public.sock"
        let socket = try ListeningSocket(at: path)
        let first = try await start(in: folder, names: "public", sockets: [socket])
        #expect(try await status(at: path, "/healthz") == 200)
        first.send(signal: SIGTERM)
        #expect(try await first.exitCode() == 0)

        let client = try RawHTTPClient(unixSocket: path)
        try client.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        let second = try await start(in: folder, names: "imageproxyd.socket", sockets: [socket])
        let answer = try await onThread { try client.answer().status }

        #expect(answer == 200)
        client.hangUp()
        withExtendedLifetime(second) {}
    }

    @Test("The name of an inherited socket says which listener it is; an unknown name is refused")
    func names() throws {
        let folder = try TemporaryDirectory()
        let socket = try ListeningSocket(at: folder.path + "/s.sock")
        func assigned(_ name: String) throws(InheritedSockets.Failure) -> [Int] {
            let sockets = try InheritedSockets([.init(descriptor: dup(socket.descriptor), name: name)])
            return [sockets.serving.count, sockets.admin.count, sockets.metrics.count]
        }

        #expect(try assigned("public") == [1, 0, 0])
        #expect(try assigned("admin") == [0, 1, 0])
        #expect(try assigned("metrics") == [0, 0, 1])
        #expect(try assigned("unknown") == [1, 0, 0])
        #expect(try assigned("imageproxyd.socket") == [1, 0, 0])
        let error = InheritedSockets.Failure(
            description:
                "LISTEN_FDNAMES: no listener is called \"http\", FileDescriptorName= is public, admin or metrics"
        )
        #expect(throws: error) { try assigned("http") }
    }

    @Test("Inherited descriptors that are not listening stream sockets are refused")
    func kinds() throws {
        for descriptor in ListeningSocket.others() {
            defer { close(descriptor) }
            #expect(throws: InheritedSockets.Failure.self) {
                try InheritedSockets([.init(descriptor: descriptor, name: "public")])
            }
        }
    }

    @Test("The rules for addresses apply to inherited sockets: a public one needs sources, keys or openProxy")
    func open() throws {
        var sources = ConfigurationLoader.Sources()
        sources.inherited = (["0.0.0.0:80"], ["0.0.0.0:81"], ["127.0.0.1:82"])

        let error = #expect(throws: ConfigurationError.self) { try ConfigurationLoader.load(sources) }

        let issues = error?.issues.map(\.description) ?? []
        #expect(issues.count == 2)
        #expect(issues.allSatisfy { $0.hasPrefix("environment LISTEN_FDS: ") })
    }

    private func inode(_ descriptor: CInt) -> ino_t {
        var facts = stat()
        fstat(descriptor, &facts)
        return facts.st_ino
    }

    private func children(of pid: pid_t) -> [pid_t] {
        guard let folder = opendir("/proc/\(pid)/task") else { return [] }
        defer { closedir(folder) }
        var children: [pid_t] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            let list = TextFiles.contents(ofFile: "/proc/\(pid)/task/\(name)/children")
            children += list.split(separator: " ").compactMap { pid_t($0) }
        }
        return children
    }
}
