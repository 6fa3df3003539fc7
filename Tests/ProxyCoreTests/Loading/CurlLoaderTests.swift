// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Freshness
@testable import Loading
@testable import Primitives

@Suite("The loader")
struct CurlLoaderTests {
    private let picture = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }

    // MARK: - Success

    @Test("delivers head and body of a response, and returns its measurements")
    func loads() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route(
            "/a", .body(picture, fields: [("ETag", "\"x\""), ("X-Two", "1"), ("X-Two", " 2 ")]))
        let receiver = CollectingReceiver()

        let summary = try await fixture.load("/a", into: receiver)

        let head = try #require(receiver.head)
        #expect(head.status == 200)
        #expect(head.contentLength == picture.count)
        #expect(head.values(of: "etag") == ["\"x\""])
        #expect(head.values(of: "x-two") == ["1", "2"])
        #expect(head.responseTime >= head.requestTime)
        #expect(head.requestTime.seconds > 1_500_000_000)
        #expect(receiver.bytes == picture)
        #expect(summary.byteCount == picture.count)
    }

    @Test("sends constant fields, and uses no settings of the environment")
    func fields() async throws {
        let fixture = try LoaderFixture {
            $0.userAgent = "tester/1"
            $0.headers = ["X-Team": "pictures", "X-Empty": ""]
        }
        fixture.origin.route("/a", .body([1]))
        var request = try fixture.request("/a?b=c%20d")
        request.fields = [HeaderField(name: "x-team", value: "own")]

        _ = try await fixture.loader.load(request, into: CollectingReceiver())

        let asked = try #require(fixture.origin.log.requests.first)
        #expect(asked.method == "GET")
        #expect(asked.target == "/a?b=c%20d")
        #expect(asked["user-agent"] == "tester/1")
        #expect(asked["accept"] == "image/*,*/*;q=0.5")
        #expect(asked["accept-encoding"] == "identity")
        #expect(asked["x-empty"] == "")
        #expect(asked.fields.filter { $0.name == "x-team" }.map(\.value) == ["own"])
        #expect(asked["host"] == "127.0.0.1:\(fixture.origin.port)")
        #expect(asked["via"] == "1.1 imageproxyd")
        #expect(asked["cdn-loop"] == "imageproxyd")
        #expect(asked.fields.count == 8)
    }

    @Test("accepts chunked bodies, and bodies that end with the connection, as complete")
    func framings() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/chunked", .chunked([Array(picture[..<10]), Array(picture[10...])]))
        fixture.origin.route("/close", .untilClose(picture))

        for path in ["/chunked", "/close"] {
            let receiver = CollectingReceiver()
            try await fixture.load(path, into: receiver)
            #expect(receiver.bytes == picture)
            #expect(receiver.head?.contentLength == nil)
        }
    }

    @Test("ignores interim responses (RFC 9110 §15.2)")
    func interim() async throws {
        let fixture = try LoaderFixture()
        let interim = OriginAnswer.head(103, [("Link", "</x>")])
        fixture.origin.route("/a", OriginAnswer([.send(interim)] + OriginAnswer.body([7]).steps))
        let receiver = CollectingReceiver()

        try await fixture.load("/a", into: receiver)

        #expect(receiver.head?.status == 200)
        #expect(receiver.head?.values(of: "link") == [])
        #expect(receiver.bytes == [7])
    }

    @Test("decodes a content coding that it did not request, and counts the decoded bytes (RFC 9110 §8.4)")
    func decodes() async throws {
        let fixture = try LoaderFixture { $0.maxBytes = ByteCount(5) }
        // gzip of "hello" and of 1,000 times "a".
        let hello: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5,
            0, 0, 0,
        ]
        let bomb: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0x4B, 0x4C, 0x1C, 5, 0xA3, 0x60, 0x14, 0x0C, 0x77, 0, 0, 0xF9,
            0xA0, 0x8C,
            0x3E, 0xE8, 3, 0, 0,
        ]
        fixture.origin.route("/hello", .body(hello, fields: [("Content-Encoding", "gzip")]))
        fixture.origin.route("/bomb", .chunked([bomb], fields: [("Content-Encoding", "gzip")]))
        fixture.origin.route("/unknown", .body([1, 2], fields: [("Content-Encoding", "rot13")]))
        let receiver = CollectingReceiver()

        try await fixture.load("/hello", into: receiver)

        #expect(receiver.bytes == Array("hello".utf8))
        #expect(receiver.head?.contentLength == nil)
        await #expect(throws: LoadError.tooLarge) { try await fixture.load("/bomb") }
        await expectFailure(.incomplete) { try await fixture.load("/unknown") }
    }

    @Test("sends validators as they were spelled, and delivers a 304 as a head alone (RFC 9111 §4.3)")
    func revalidates() async throws {
        let fixture = try LoaderFixture()
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        fixture.origin.route("/a", OriginAnswer.validated([1], entityTag: "W/\"a\"", lastModified: date))
        var request = try fixture.request("/a")
        request.ifNoneMatch = "W/\"a\""
        request.ifModifiedSince = date
        let receiver = CollectingReceiver()

        let summary = try await fixture.loader.load(request, into: receiver)

        #expect(receiver.head?.status == 304)
        #expect(receiver.bytes.isEmpty)
        #expect(summary.byteCount == 0)
        #expect(fixture.origin.log.requests[0]["if-modified-since"] == date)
    }

    @Test(
        "sends no validator that would be a request of its own",
        arguments: ["\"a\"\r\nX: y", "\"a\"\nX: y", "\"a\"\r"])
    func splitValidators(value: String) async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/a", .body(picture))
        var request = try fixture.request("/a")
        (request.ifNoneMatch, request.ifModifiedSince) = (value, value)

        _ = try await fixture.loader.load(request, into: CollectingReceiver())

        let sent = fixture.origin.log.requests[0]
        #expect(sent["x"] == nil && sent["if-none-match"] == nil && sent["if-modified-since"] == nil)
    }

    @Test("reuses a connection")
    func reuses() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/a", .body(picture))

        for index in 0..<5 {
            try await fixture.load("/a")
            #expect(fixture.loader.statistics.reusedConnections == index)
        }
        await #expect(throws: LoadError.status(404, retryAfter: nil)) { try await fixture.load("/missing") }
        try await fixture.load("/a")

        #expect(fixture.origin.log.connections == 1)
        #expect(fixture.loader.statistics.newConnections == 1)
        #expect(fixture.loader.statistics.reusedConnections == 6)
    }

    // MARK: - Failure

    @Test(
        "accepts no other status as an image",
        arguments: [
            (400, .status(400, retryAfter: nil)), (404, .status(404, retryAfter: nil)),
            (500, .status(500, retryAfter: nil)),
            (204, .notAnImage("")), (206, .incomplete("a part that was not requested")),
            (202, .status(202, retryAfter: nil)),
            (300, .status(300, retryAfter: nil)), (304, .status(304, retryAfter: nil)),
        ] as [(Int, LoadError)])
    func statuses(status: Int, error: LoadError) async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/a", .status(status))
        let receiver = CollectingReceiver()

        await #expect(throws: error) { try await fixture.load("/a", into: receiver) }
        #expect(receiver.head == nil)
    }

    @Test("returns Retry-After of an origin, given in seconds or as a date (RFC 9110 §10.2.3)")
    func retryAfter() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/seconds", .status(503, fields: [("Retry-After", "120")]))
        fixture.origin.route(
            "/date", .status(429, fields: [("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT")]))
        fixture.origin.route("/invalid", .status(503, fields: [("Retry-After", "soon")]))

        await #expect(throws: LoadError.status(503, retryAfter: 120)) { try await fixture.load("/seconds") }
        await #expect(throws: LoadError.status(429, retryAfter: 0)) { try await fixture.load("/date") }
        await #expect(throws: LoadError.status(503, retryAfter: nil)) { try await fixture.load("/invalid") }
    }

    @Test(
        "cuts Retry-After to fetch.maxRetryAfter",
        arguments: ["3601", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func longRetryAfter(value: String) async throws {
        let fixture = try LoaderFixture()
        let silent = try LoaderFixture { $0.maxRetryAfter = .seconds(0) }
        for one in [fixture, silent] {
            one.origin.route("/a", .status(503, fields: [("Retry-After", value)]))
        }

        await #expect(throws: LoadError.status(503, retryAfter: 3_600)) { try await fixture.load("/a") }
        await #expect(throws: LoadError.status(503, retryAfter: nil)) { try await silent.load("/a") }
    }

    @Test("does not wait for the long or endless body of an error")
    func errorBody() async throws {
        let fixture = try LoaderFixture()
        let head = OriginAnswer.head(500, [("Content-Length", "100000000")])
        fixture.origin.route("/a", OriginAnswer([.send(head), .stall]))

        await #expect(throws: LoadError.status(500, retryAfter: nil)) { try await fixture.load("/a") }
        await fixture.origin.waitForDepartures("/a")
    }

    @Test("ends a transfer at the byte limit, declared or not, and leaves the origin")
    func byteLimit() async throws {
        let fixture = try LoaderFixture { $0.maxBytes = .kibibytes(100) }
        fixture.origin.route(
            "/declared",
            OriginAnswer([.send(OriginAnswer.head(200, [("Content-Length", "102401")])), .stall]))
        let chunk = Array("19001\r\n".utf8) + [UInt8](repeating: 1, count: 0x19001)
        let head = OriginAnswer.head(200, [("Transfer-Encoding", "chunked")])
        fixture.origin.route("/chunked", OriginAnswer([.send(head + chunk), .stall]))
        fixture.origin.route("/exact", .body([UInt8](repeating: 1, count: 100 << 10)))
        let receiver = CollectingReceiver()

        await #expect(throws: LoadError.tooLarge) { try await fixture.load("/declared", into: receiver) }
        await #expect(throws: LoadError.tooLarge) { try await fixture.load("/chunked") }
        try await fixture.load("/exact")

        #expect(receiver.head == nil)
        await fixture.origin.waitForDepartures("/declared")
        await fixture.origin.waitForDepartures("/chunked")
    }

    @Test("refuses a head beyond its limit")
    func headLimit() async throws {
        let fixture = try LoaderFixture { $0.maxHeadBytes = ByteCount(2_000) }
        let many = (0..<100).map { ("X-\($0)", "0123456789012345") }
        fixture.origin.route("/a", .body([1], fields: many))

        let reason = "head larger than fetch.maxHeadBytes, or of more than 500 lines"
        await #expect(throws: LoadError.incomplete(reason)) {
            try await fixture.load("/a")
        }
    }

    @Test("reports an incomplete body as incomplete")
    func truncated() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/length", .truncated([1, 2, 3], declaring: 10))
        let head = OriginAnswer.head(200, [("Transfer-Encoding", "chunked")])
        fixture.origin.route("/chunked", OriginAnswer([.send(head + Array("3\r\nabc\r\n".utf8)), .close]))
        fixture.origin.route(
            "/reset", OriginAnswer([.send(OriginAnswer.head(200, [("Content-Length", "9")])), .reset]))

        for path in ["/length", "/chunked", "/reset"] {
            await expectFailure(.incomplete) { try await fixture.load(path) }
        }
    }

    @Test("refuses responses that are not HTTP/1.1")
    func otherProtocol() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/garbage", OriginAnswer([.send(Array("<html>hello</html>\n".utf8)), .close]))
        fixture.origin.route(
            "/length", OriginAnswer([.send(OriginAnswer.head(200, [("Content-Length", "x")])), .close]))
        fixture.origin.route("/nul", OriginAnswer([.send(OriginAnswer.head(200, [("X", "a\0b")])), .close]))

        for path in ["/garbage", "/length", "/nul"] {
            await #expect(throws: (any Error).self) { try await fixture.load(path) }
        }
    }

    @Test("reports an origin as unreachable that refuses connections, or closes them without an answer")
    func unreachable() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/silent", OriginAnswer([.close]))
        let gone = try HeldPort()

        await expectFailure(.unreachable) { try await fixture.load("/silent") }
        await expectFailure(.unreachable) { try await fixture.load(absolute: gone.url("/")) }
        #expect(
            fixture.loader.statistics.retries == 1,
            "a connection refused is tried once more, a request sent is not")
    }

    @Test("distinguishes a failed TLS handshake from a failed connection")
    func tls() async throws {
        let fixture = try LoaderFixture()

        let url = "https://127.0.0.1:\(fixture.origin.port)/"
        await expectFailure(.tlsFailed) { try await fixture.load(absolute: url) }
    }

    @Test("throws a receiver's error, and ends the transfer")
    func receiverRefuses() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/a", .stalling(after: [1], declaring: 10))

        await #expect(throws: LoadError.notAnImage("")) {
            try await fixture.load("/a", into: CollectingReceiver(refusingHead: .notAnImage("")))
        }
        await #expect(throws: LoadError.storage("full")) {
            try await fixture.load("/a", into: CollectingReceiver(refusingBody: .storage("full")))
        }
        await fixture.origin.waitForDepartures("/a", count: 2)
    }

    // MARK: - Addresses

    @Test("connects to no address that the policy refuses, and reveals nothing about it")
    func addresses() async throws {
        let fixture = try LoaderFixture(deniedNetworks: ["127.0.0.1"])
        fixture.origin.route("/a", .body([1]))

        await #expect(throws: LoadError.addressForbidden("")) { try await fixture.load("/a") }
        await #expect(throws: LoadError.addressForbidden("")) {
            try await fixture.load(absolute: "http://127.0.0.1:1/")
        }
        await #expect(throws: LoadError.addressForbidden("")) {
            try await fixture.load(absolute: "http://[::1]:8080/")
        }
        await #expect(throws: LoadError.addressForbidden("")) {
            try await fixture.load(absolute: "http://169.254.169.254/")
        }
        await #expect(throws: LoadError.addressForbidden("")) {
            try await fixture.load(absolute: "http://2130706433:8080/")
        }
        #expect(fixture.origin.log.connections == 0)
        #expect(fixture.loader.statistics.newConnections + fixture.loader.statistics.reusedConnections == 0)
    }

    @Test("also refuses a name with a forbidden address")
    func names() async throws {
        let fixture = try LoaderFixture(deniedNetworks: ["127.0.0.0/8", "::1"])

        await #expect(throws: LoadError.nameForbidden) {
            try await fixture.load(absolute: "http://localhost:\(fixture.origin.port)/")
        }
        #expect(fixture.origin.log.connections == 0)
    }

    // MARK: - Set-up

    @Test("refuses fields that can't be sent, and its own fields")
    func setup() throws {
        for name in ["", "a b", "Host", "range", "Accept-Encoding", "X\r\nY"] {
            #expect(throws: CurlLoader.SetupError.invalidField(name)) {
                try LoaderFixture { $0.headers = [name: "x"] }
            }
        }
        #expect(throws: CurlLoader.SetupError.invalidField("X")) {
            try LoaderFixture { $0.headers = ["X": "a\r\nb"] }
        }
        #expect(throws: CurlLoader.SetupError.invalidField("userAgent")) {
            try LoaderFixture { $0.userAgent = "a\nb" }
        }
    }
}
