// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("A cold page of AVIF", .serialized)
struct ColdPageTests {
    private static let accept = "Accept: image/avif,image/webp,*/*"
    private static let resize = "transform=resize:800x"
    private static let modified = ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")

    /// A daemon with the default queues, but without their times: a machine that is busy with other tests is
    /// slow, not wrong. `bench/run` tests the default times.
    private func proxy(_ environment: [String] = [], in earlier: Proxy? = nil) async throws -> Proxy {
        try await Proxy(
            in: earlier?.folder, origin: earlier?.origin,
            environment: ["IMAGEPROXYD_TRANSFORM_QUEUE=0"] + environment)
    }

    @Test(
        "All pictures of a page are answered, however many one client requests at once", arguments: [50, 200])
    func page(count: Int) async throws {
        let proxy = try await proxy()
        let fields = [("Content-Type", "image/jpeg"), ("Cache-Control", "max-age=600")]
        for number in 0..<count {
            proxy.origin.route("/\(number).jpg", .body(Fixtures.photo(number: number), fields: fields))
        }

        let answers = try await withThrowingTaskGroup(of: RawHTTPClient.Answer.self) { group in
            for number in 0..<count {
                group.addTask {
                    try await proxy.get(proxy.target("/\(number).jpg", Self.resize), Self.accept)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(answers.map(\.status) == Array(repeating: 200, count: count))
        #expect(answers.allSatisfy { $0["Vary"] == "Accept" })
        for answer in answers {
            #expect(["image/avif", "image/jpeg"].contains(answer["Content-Type"]))
            #expect((60...600).contains(lifetime(of: answer)))
        }
    }

    /// The whole of `Cache-Control` as `max-age`; 0 if it contains more or less. A busy machine makes results
    /// of older sources.
    private func lifetime(of answer: RawHTTPClient.Answer) -> Int {
        answer["Cache-Control"].flatMap { Int($0.dropFirst("public, max-age=".count)) } ?? 0
    }

    @Test(
        "A first result is fresh for a minute, and as long as the origin says once it has been improved"
    )
    func lifetimes() async throws {
        let proxy = try await proxy()
        proxy.origin.route(
            "/a.jpg",
            .body(
                Fixtures.photo,
                fields: [
                    ("Cache-Control", "max-age=600, immutable"), ("Content-Type", "image/jpeg"),
                    Self.modified,
                ]))
        let target = proxy.target("/a.jpg", Self.resize)
        let replaced = "imageproxyd_transform_improvements_total{outcome=\"replaced\"}"

        let first = try await proxy.get(target, Self.accept)
        #expect(first["Content-Type"] == "image/avif")
        #expect((60..<600).contains(lifetime(of: first)))
        _ = try await proxy.get(target, Self.accept)
        while try await proxy.metric(replaced) < 1 {}
        let second = try await proxy.get(target, Self.accept)

        #expect(second["Cache-Control"] == "public, max-age=600, immutable")
        #expect(second["ETag"] != first["ETag"] && second.body.count < first.body.count)
        let tag = try #require(first["ETag"])
        #expect(try await proxy.get(target, Self.accept, "If-None-Match: \(tag)").status == 200)
        let part = try await proxy.get(
            target, Self.accept, "Range: bytes=100-", "If-Range: \(Self.modified.1)")
        #expect(part.status == 200, "a date does not show which of the two the client has the beginning of")

        proxy.daemon.send(signal: 15)
        _ = try await proxy.daemon.exitCode()
        let restarted = try await self.proxy(in: proxy)
        let third = try await restarted.get(target, Self.accept)
        _ = try await restarted.get(target, Self.accept)
        #expect(third["ETag"] == second["ETag"] && third["Cache-Control"] == second["Cache-Control"])
        #expect(try await restarted.metric("imageproxyd_transform_improvement_queue") == 0)
        #expect(try await restarted.metric(replaced) == 0)
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    @Test(
        "A first result is never fresh for longer than the origin says, and is not improved with the setting off"
    )
    func bounds() async throws {
        let proxy = try await proxy()
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=20")]))
        let brief = try await proxy.get(proxy.target("/a.jpg", Self.resize), Self.accept)
        #expect(brief["Cache-Control"] == "public, max-age=20")

        let without = try await self.proxy(["IMAGEPROXYD_TRANSFORM_IMPROVE_ENABLED=false"])
        without.origin.route("/a.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600")]))
        let target = without.target("/a.jpg", Self.resize)
        let first = try await without.get(target, Self.accept)
        let second = try await without.get(target, Self.accept)
        #expect(first["Content-Type"] == "image/avif" && first["Cache-Control"] == "public, max-age=600")
        #expect(second["ETag"] == first["ETag"])
        #expect(try await without.metric("imageproxyd_transform_improvement_queue") == 0)
    }
}
