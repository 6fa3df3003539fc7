// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import TestSupport
import Testing

@Suite("A daemon without descriptors")
struct ExhaustionTests {
    @Test("Health checks are answered when no descriptor is left, and all requests when some are free again")
    func exhaustion() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600")]))
        let target = proxy.target("/photo.jpg")
        #expect(try await proxy.get(target).status == 200)
        let path = proxy.daemon.socketPath
        try proxy.daemon.limitDescriptors(aboveOpen: 20)

        let (clients, refused, health) = try await onThread {
            // All stay connected, so that none gets a descriptor that another has closed.
            var clients: [RawHTTPClient] = []
            func ask(_ target: String) throws -> RawHTTPClient.Answer {
                clients.append(try RawHTTPClient(unixSocket: path))
                try clients[clients.count - 1].send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
                return try clients[clients.count - 1].answer()
            }
            var answer = try ask(target)
            while answer.status == 200, clients.count < 100 { answer = try ask(target) }
            return (clients, answer, try ask("/healthz"))
        }
        clients.forEach { $0.hangUp() }
        let later = try await proxy.firstAnswer(to: target, with: 200)

        #expect(refused.status == 503)
        #expect(refused["Retry-After"] == "1")
        #expect(health.status == 200)
        #expect(later.body == Fixtures.photo)
    }

    @Test(
        "A request for a render is 503 while no descriptor is left, and the failure is not remembered")
    func making() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600")]))
        #expect(try await proxy.get(proxy.target("/photo.jpg")).status == 200)
        let (path, target) = (proxy.daemon.socketPath, proxy.target("/photo.jpg", "transform=resize:40x40"))
        let former = try proxy.daemon.descriptorLimits.soft

        let refused = try await onThread {
            let client = try RawHTTPClient(unixSocket: path)
            try client.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try client.answer()
            try proxy.daemon.limitDescriptors(aboveOpen: 0)
            try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
            return try client.answer()
        }
        try proxy.daemon.limitDescriptors(to: former)

        #expect(refused.status == 503)
        #expect(refused["Retry-After"] != nil)
        #expect(try await proxy.get(target).status == 200)
    }

    @Test("Fetches succeed when descriptors are free again, and no origin counts as failed meanwhile")
    func fetching() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600")]))
        let (path, target) = (proxy.daemon.socketPath, proxy.target("/photo.jpg"))
        let former = try proxy.daemon.descriptorLimits.soft

        let (refused, later) = try await onThread {
            let client = try RawHTTPClient(unixSocket: path)
            try client.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try client.answer()
            try proxy.daemon.limitDescriptors(aboveOpen: 0)
            try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
            let refused = try client.answer()
            try proxy.daemon.limitDescriptors(to: former)
            try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
            return (refused, try client.answer())
        }

        #expect(refused.status == 503)
        #expect(refused["Retry-After"] == "1")
        #expect(later.status == 200)
        #expect(later.body == Fixtures.photo)
    }

    @Test("The highest descriptors stay free for libraries, whatever slow readers hold open")
    func highest() async throws {
        let proxy = try await Proxy(results: "disk")
        let picture = Fixtures.photo + [UInt8](repeating: 0, count: 1 << 20)
        let targets = (0..<60).map { proxy.target("/\($0).jpg") }
        for (number, target) in targets.enumerated() {
            proxy.origin.route(
                "/\(number).jpg", .body(picture, fields: [("Cache-Control", "max-age=600")]))
            #expect(try await proxy.get(target).status == 200)
        }
        let path = proxy.daemon.socketPath
        let former = try proxy.daemon.descriptors
        try proxy.daemon.limitDescriptors(aboveOpen: 80)

        let (clients, statuses) = try await onThread {
            var clients: [RawHTTPClient] = []
            var statuses: [UInt16] = []
            for target in targets {
                clients.append(try RawHTTPClient(unixSocket: path))
                try clients[clients.count - 1].send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
                statuses.append(UInt16(try clients[clients.count - 1].head().status))
            }
            return (clients, statuses)
        }
        let limit = try proxy.daemon.descriptorLimits.soft
        let kept = Int(linux_kept_descriptors(UInt64(limit)))
        // A library's own may be there.
        let scarce = try proxy.daemon.descriptors.filter { number, target in
            number >= limit - kept && former[number] == nil
                && ["socket", "/originals/", "memfd"].contains { target.contains($0) }
        }
        clients.forEach { $0.hangUp() }

        #expect(kept >= 16)
        #expect(scarce.isEmpty, "\(scarce)")
        #expect(statuses.contains(200))
        #expect(statuses.contains(503))
    }

    @Test(
        "A picture that needs a file while none can be opened is refused before its first byte, not in the middle",
        arguments: Picture.Length.allCases)
    func arriving(length: Picture.Length) async throws {
        let proxy = try await Proxy()
        let (first, gate) = (OriginGate(), OriginGate())
        let picture = Picture(first: 20_000, rest: 1 << 20)
        proxy.origin.route(
            "/a.jpg", OriginAnswer([.wait(first)] + picture.answer(gate, length).steps))
        let target = proxy.target("/a.jpg")
        let former = try proxy.daemon.descriptorLimits.soft

        let client = try RawHTTPClient(unixSocket: proxy.daemon.socketPath)
        try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        // The origin has been requested by now: what is missing then is a file.
        await proxy.origin.waitForRequests("/a.jpg")
        try proxy.daemon.limitDescriptors(aboveOpen: 0)
        first.open()
        gate.open()
        let answer = try await onThread { try client.answer() }
        try proxy.daemon.limitDescriptors(to: former)

        #expect(answer.status == 503)
        #expect(answer["Retry-After"] == "1")
        #expect(isSame(try await proxy.get(target).body, picture.bytes))
    }

    @Test("The daemon does not start with fewer descriptors than it needs, and prints how many those are")
    func tooFew() async throws {
        let folder = try TemporaryDirectory()
        // Root would raise the limit otherwise.
        let powerless = getuid() == 0 ? "setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource " : ""
        let command =
            "ulimit -n 90; exec \(powerless)\(DaemonProcess.executable) serve --listen unix:\(folder.path)/s"
        let outcome = try await OtherProgram.run(
            "/bin/sh", ["-c", command],
            environment: [
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                "IMAGEPROXYD_CACHE_DISK_DIRECTORY": folder.path + "/cache",
            ])

        #expect(outcome.code == 1)
        #expect(outcome.errors.contains("at most 90 files may be open"), "\(outcome)")
        #expect(outcome.errors.contains("at least 96 are needed"), "\(outcome)")
    }

    @Test("Open cache files are closed so that clients are answered")
    func givingWay() async throws {
        let proxy = try await Proxy(results: "disk")
        let targets = (0..<40).map { proxy.target("/\($0).jpg") }
        for number in 0..<40 {
            proxy.origin.route(
                "/\(number).jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600")]))
        }
        // Fetched, then found on disk, then kept open.
        for _ in 0..<4 { for target in targets { #expect(try await proxy.get(target).status == 200) } }
        let path = proxy.daemon.socketPath
        try proxy.daemon.limitDescriptors(aboveOpen: 2)

        let (clients, statuses) = try await onThread {
            var clients: [RawHTTPClient] = []
            var statuses: [UInt16] = []
            for target in targets.prefix(20) {
                clients.append(try RawHTTPClient(unixSocket: path))
                try clients[clients.count - 1].send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
                statuses.append(UInt16(try clients[clients.count - 1].answer().status))
            }
            return (clients, statuses)
        }
        clients.forEach { $0.hangUp() }

        #expect(statuses.allSatisfy { $0 == 200 }, "\(statuses)")
    }

    @Test("Health checks are answered while idle connections hold every descriptor")
    func silentFlood() async throws {
        let proxy = try await Proxy()
        let path = proxy.daemon.socketPath
        try proxy.daemon.limitDescriptors(aboveOpen: 20)

        let health = try await onThread {
            // Far more than descriptors, including the reserve: the checker is after them in the backlog.
            let silent = try (0..<100).map { _ in try RawHTTPClient(unixSocket: path) }
            let checker = try RawHTTPClient(unixSocket: path)
            try checker.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try checker.answer()
            (silent + [checker]).forEach { $0.hangUp() }
            return answer
        }

        #expect(health.status == 200)
        // They were not closed by a timeout.
        #expect(try await proxy.metric(#"imageproxyd_http_rejected_total{reason="evicted"}"#) > 0)
    }
}
