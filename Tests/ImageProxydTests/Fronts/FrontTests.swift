// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("Other proxies in front, by the examples of deploy/fronts")
struct FrontTests {
    private static let installed = Front.Kind.allCases.filter(\.isInstalled)
    /// An address of loopback that is no operator's.
    private static let stranger: UInt32 = 0x7F00_0009

    private static func photo(_ fields: [(String, String)]) -> OriginAnswer {
        .body(Fixtures.photo, type: "image/jpeg", fields: fields)
    }

    private static let lasting = [("Cache-Control", "max-age=600"), ("Age", "100")]

    @Test("Each of the four is tried: make test-packages installs them")
    func complete() {
        #expect(Self.installed == Front.Kind.allCases)
    }

    @Test("A picture is stored in front, and comes from there with an Age", arguments: installed)
    func stored(kind: Front.Kind) async throws {
        let front = try await Front(kind)
        front.origin.route("/a.jpg", Self.photo(Self.lasting))
        let target = front.target("/a.jpg", "transform=resize:32x32&format=png")

        let start = ContinuousClock.now
        let first = try await front.get(target)
        let before = try await front.requestsToDaemon()
        let others = [try await front.get(target), try await front.get(target)]
        let requests = try await front.requestsToDaemon() - before
        // HAProxy's example stores for ten seconds, which pass on a machine that is busy with other tests.
        let hasExpired = kind == .haproxy && .now - start > .seconds(9)

        #expect(first.status == 200 && first["Content-Type"] == "image/png")
        for other in others {
            #expect(other.status == 200 && other.body == first.body)
            #expect(other["ETag"] == first["ETag"])
            #expect(other["Age"].flatMap { Int($0) } ?? 0 >= 100)
            #expect(other["X-Accel-Expires"] == nil && other["X-Source"] == nil)
        }
        #expect(hasExpired || requests == (kind.stores ? 0 : 2))
    }

    @Test("Browsers get one format each, whatever is stored in front", arguments: installed)
    func formats(kind: Front.Kind) async throws {
        let front = try await Front(kind)
        front.origin.route("/a.jpg", Self.photo(Self.lasting))
        let target = front.target("/a.jpg", "transform=resize:32x32&format=auto")
        // Vary is the reason that HAProxy stores none of these.
        let accepted = ["image/webp,*/*", "image/png", "image/avif,image/webp,*/*"]

        for _ in 0..<2 {
            for (accept, type) in zip(accepted, ["image/webp", "image/jpeg", "image/avif"]) {
                let answer = try await front.get(target, "Accept: \(accept)")
                #expect(answer.status == 200 && answer["Content-Type"] == type, "\(accept)")
                #expect(answer["Vary"]?.contains("Accept") == true)
            }
        }
    }

    @Test("What may not be shared is not stored in front", arguments: installed)
    func unshared(kind: Front.Kind) async throws {
        let front = try await Front(kind)
        for directive in ["private, max-age=600", "no-store"] {
            let path = "/\(directive.prefix(2)).jpg"
            front.origin.route(path, Self.photo([("Cache-Control", directive)]))
            let target = front.target(path, "transform=resize:32x32")

            for _ in 0..<2 {
                let answer = try await front.get(target)
                #expect(answer["Cache-Control"]?.hasPrefix(String(directive.prefix(7))) == true)
            }
            #expect(front.origin.count(path) == 2, "\(directive)")
        }
    }

    @Test("The daemon uses the client's address that the front reports, and no other", arguments: installed)
    func clientAddress(kind: Front.Kind) async throws {
        let front = try await Front(kind)
        front.origin.route("/a.jpg", Self.photo(Self.lasting))

        let answer = try await front.ask(
            "GET", front.target("/a.jpg"), ["X-Forwarded-For: 203.0.113.7"], from: Self.stranger)
        let refused = try await front.ask("GET", "/img", from: Self.stranger)

        #expect(answer.status == 200 && refused.status == 400)
        try await front.wait { front.daemon.log.contains("client=127.0.0.9 ") }
        #expect(!front.daemon.log.contains("203.0.113.7"))
    }

    @Test("Ranges, HEAD and conditions work, stored in front or not", arguments: installed)
    func parts(kind: Front.Kind) async throws {
        let front = try await Front(kind)
        front.origin.route("/a.jpg", Self.photo(Self.lasting))
        let target = front.target("/a.jpg", "transform=resize:32x32&format=png")
        let head = try await front.ask("HEAD", target)
        let whole = try await front.get(target)
        let tag = try #require(whole["ETag"])

        for _ in 0..<2 {
            let part = try await front.get(target, "Range: bytes=2-11")
            if kind == .haproxy {
                // What a cache may do that has the whole (RFC 9110 §14.2).
                #expect(part.status == 200 && part.body == whole.body)
            } else {
                #expect(part.status == 206 && part.body == Array(whole.body[2...11]))
                #expect(part["Content-Range"] == "bytes 2-11/\(whole.body.count)")
            }
            let same = try await front.get(target, "If-None-Match: \(tag)")
            #expect(same.status == 304 && same.body.isEmpty)
            let headAgain = try await front.ask("HEAD", target)
            #expect(headAgain.status == 200 && headAgain["ETag"] == tag)
        }
        #expect(head.status == 200 && head["Content-Type"] == "image/png")
    }

    @Test("A purge through the front reaches the daemon, and the front's own copy", arguments: installed)
    func purge(kind: Front.Kind) async throws {
        let front = try await Front(kind)
        let other = OriginAnswer.body(Fixtures.limitedGrey, type: "image/avif", fields: Self.lasting)
        front.origin.route("/a.jpg", inTurn: [Self.photo(Self.lasting), other])
        let target = front.target("/a.jpg", "transform=resize:32x32&format=png")
        let first = try await front.get(target)

        let denied = try await front.ask("PURGE", front.target("/a.jpg"), from: Self.stranger)
        #expect(denied.status == 403)
        #expect(try await front.get(target).body == first.body)
        #expect(front.origin.count("/a.jpg") == 1)

        let purged = try await front.ask("PURGE", front.target("/a.jpg"))
        #expect(purged.status == 200 && purged.text.contains("\"disk\""), "\(purged.text)")
        if kind == .nginx {
            #expect(try await front.get(target).body == first.body, "nginx keeps its own copy")
            #expect(try await front.get(target, "Cache-Control: no-cache").body != first.body)
        }
        // HAProxy keeps it for ten seconds at most.
        try await front.wait { try await front.get(target).body != first.body }
        #expect(front.origin.count("/a.jpg") == 2)
    }

    @Test("The settings of the examples are accepted")
    func settings() async throws {
        let run = try await OtherProgram.run(
            DaemonProcess.executable,
            ["check-config", "--config", TextFiles.path("deploy/fronts/imageproxyd.json")])

        #expect(run.code == 0 && run.errors.isEmpty, "\(run.errors)")
    }

    @Test("Varnish also purges what has a tag")
    func tags() async throws {
        guard Front.Kind.varnish.isInstalled else { return }
        let front = try await Front(.varnish)
        front.origin.route("/a.jpg", Self.photo(Self.lasting))
        let tagged = front.target("/a.jpg", "transform=resize:32x32&tag=spring,shoes-42")
        let untagged = front.target("/a.jpg", "transform=resize:16x16")
        for target in [tagged, untagged] {
            #expect(try await front.get(target).status == 200)
            #expect(try await front.get(target)["Surrogate-Key"] == nil, "only Varnish reads it")
        }
        let before = try await front.requestsToDaemon()

        #expect(try await front.ask("DELETE", "/cache?tag=shoes", []).status == 200)
        #expect(try await front.get(tagged).status == 200)
        #expect(try await front.requestsToDaemon() - before == 0, "that is another tag")

        #expect(try await front.ask("DELETE", "/cache?tag=shoes-42", []).status == 200)
        #expect(try await front.get(tagged).status == 200)
        #expect(try await front.get(untagged).status == 200)
        #expect(try await front.requestsToDaemon() - before == 1)
    }
}
