// SPDX-License-Identifier: Apache-2.0

import Primitives
import TestSupport
import Testing

@testable import Freshness
@testable import Loading
@testable import URLs

@Suite("A redirect")
struct CurlLoaderRedirectTests {
    @Test(
        "is followed, relative or absolute, over the same connection (RFC 9110 §15.4)",
        arguments: [301, 302, 303, 307, 308])
    func follows(status: Int) async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/a/b", .redirect(to: "../c d?e#f", status: status))
        fixture.origin.route("/c%20d", .redirect(to: fixture.origin.url("/end"), status: status))
        fixture.origin.route("/end", .body([5]))
        let receiver = CollectingReceiver()

        try await fixture.load("/a/b", into: receiver)

        #expect(receiver.head?.status == 200)
        #expect(receiver.bytes == [5])
        #expect(fixture.origin.log.requests.map(\.target) == ["/a/b", "/c%20d?e", "/end"])
        #expect(fixture.origin.log.connections == 1)
    }

    @Test("in a loop, or beyond the limit, is an error")
    func tooMany() async throws {
        let fixture = try LoaderFixture { $0.maxRedirects = 3 }
        fixture.origin.route("/loop", .redirect(to: "/loop"))
        for index in 0..<4 { fixture.origin.route("/\(index)", .redirect(to: "/\(index + 1)")) }
        fixture.origin.route("/4", .body([1]))

        await #expect(throws: LoadError.tooManyRedirects("")) { try await fixture.load("/loop") }
        await #expect(throws: LoadError.tooManyRedirects("")) { try await fixture.load("/0") }
        try await fixture.load("/1")

        #expect(fixture.origin.count("/loop") == 4)
    }

    @Test(
        "without a Location, or with an invalid one, is an error",
        arguments: ["", "http:///x", "http://a..b/"])
    func unusable(location: String) async throws {
        let fixture = try LoaderFixture()
        let fields = location.isEmpty ? [] : [("Location", location)]
        fixture.origin.route("/a", .status(302, fields: fields))

        await #expect(throws: LoadError.tooManyRedirects("")) { try await fixture.load("/a") }
    }

    @Test(
        "whose Location is empty or a fragment means the same URL with its query (RFC 3986 §5.2.2)",
        arguments: ["", "#top"])
    func sameDocument(location: String) async throws {
        let fixture = try LoaderFixture { $0.maxRedirects = 2 }
        fixture.origin.route("/folder/e", .status(302, fields: [("Location", location)]))
        fixture.origin.route("/folder/", .body([1]))
        fixture.origin.route("/", .body([1]))

        await #expect(throws: LoadError.tooManyRedirects("")) { try await fixture.load("/folder/e?a=1") }

        #expect(Set(fixture.origin.log.requests.map(\.target)) == ["/folder/e?a=1"])
    }

    @Test("leads to a request target that is a URI, whatever its Location contains (RFC 9112 §3.2)")
    func encodedTarget() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/a", .redirect(to: "/b\"<>|?{c}=%zz"))
        fixture.origin.route("/b%22%3C%3E%7C", .body([5]))

        try await fixture.load("/a")
        try await fixture.load("/b\"<>|?`^")

        #expect(
            fixture.origin.log.requests.map(\.target) == [
                "/a", "/b%22%3C%3E%7C?%7Bc%7D=%25zz", "/b%22%3C%3E%7C?%60%5E",
            ])
    }

    @Test(
        "to another scheme or with credentials is forbidden",
        arguments: [
            ("ftp://127.0.0.1/x", "scheme", "127.0.0.1:0"), ("file:///etc/passwd", "scheme", nil),
            ("gopher://127.0.0.1:70/", "scheme", "127.0.0.1:70"),
            ("//user:secret@127.0.0.1/", "user name", "127.0.0.1:80"),
        ])
    func forbidden(location: String, rule: String, target: String?) async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/a", .redirect(to: location))

        let error = await #expect(throws: LoadError.self) { try await fixture.load("/a") }
        guard case .redirectForbidden(let text, let origin) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.contains(rule))
        #expect(origin.map { "\($0.host):\($0.port)" } == target)
    }

    @Test("to a URL that the policy refuses is forbidden at any hop, and no request is sent to the URL")
    func policy() async throws {
        let fixture = try LoaderFixture(redirectPolicy: { $0.path != "/secret" })
        fixture.origin.route("/a", .redirect(to: "/b"))
        fixture.origin.route("/b", .redirect(to: "/secret"))

        await expectFailure(.redirectForbidden) { try await fixture.load("/a") }
        #expect(fixture.origin.count("/b") == 1)
        #expect(fixture.origin.count("/secret") == 0)
    }

    @Test(
        "to a forbidden address or port is forbidden",
        arguments: [
            "http://169.254.169.254/latest/meta-data", "http://[::1]:8080/", "http://127.0.0.2:8080/",
            "http://127.0.0.1:22/",
        ])
    func address(location: String) async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/a", .redirect(to: location))

        await #expect(throws: LoadError.addressForbidden("")) { try await fixture.load("/a") }
    }

    @Test("carries no credentials to another origin")
    func credentials() async throws {
        let fixture = try LoaderFixture { $0.headers = ["X-Team": "pictures"] }
        let other = try FakeOrigin()
        other.route("/b", .body([1]))
        fixture.origin.route("/a", .redirect(to: "/a2"))
        fixture.origin.route("/a2", .redirect(to: other.url("/b")))
        var request = try fixture.request("/a")
        request.fields = [
            HeaderField(name: "Authorization", value: "Bearer x"),
            HeaderField(name: "Cookie", value: "y"),
        ]

        _ = try await fixture.loader.load(request, into: CollectingReceiver())

        #expect(fixture.origin.log.requests.map { $0["authorization"] } == ["Bearer x", "Bearer x"])
        let asked = try #require(other.log.requests.first)
        #expect(asked["authorization"] == nil)
        #expect(asked["cookie"] == nil)
        #expect(asked["x-team"] == "pictures")
    }

    @Test("is followed although its body never ends")
    func endlessBody() async throws {
        let fixture = try LoaderFixture()
        let head = OriginAnswer.head(302, [("Location", "/end"), ("Transfer-Encoding", "chunked")])
        fixture.origin.route("/a", OriginAnswer([.send(head), .stall]))
        fixture.origin.route("/end", .body([1]))
        let receiver = CollectingReceiver()

        try await fixture.load("/a", into: receiver)

        await fixture.origin.waitForDepartures("/a")
        #expect(receiver.bytes == [1])
    }
}
