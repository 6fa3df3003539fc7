// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ProxyCore

@Suite("Revalidation behind redirects")
struct RedirectedRevalidationTests {
    private static let date = "Mon, 02 Nov 2026 08:00:00 GMT"
    private static let fields = [("Cache-Control", "max-age=60")]

    @Test("Validators are sent only to the server that issued them (RFC 9110 §13.1)")
    func changed() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route("/latest", inTurn: [.redirect(to: "/a.jpg"), .redirect(to: "/b.jpg")])
        fixture.origin.route(
            "/a.jpg",
            OriginAnswer.validated(Fixtures.photo(number: 1), lastModified: Self.date, fields: Self.fields))
        fixture.origin.route("/b.jpg") { request in
            request["if-modified-since"] == nil
                ? .body(Fixtures.photo(number: 2), fields: Self.fields) : .status(304)
        }
        _ = try await fixture.get("/latest")
        fixture.clock.advance(by: 100)

        let second = try await fixture.get("/latest")

        #expect(try second.bytes == Fixtures.photo(number: 2))
        #expect(second.provenance == .fetched(.stale))
        #expect(fixture.origin.log.requests.allSatisfy { $0["if-modified-since"] == nil })
        #expect(fixture.origin.count("/b.jpg") == 1)
    }

    @Test("A redirect to the same target has the picture revalidated there")
    func unchanged() async throws {
        let fixture = try PipelineFixture()
        fixture.origin.route("/latest", .redirect(to: "/a.jpg"))
        fixture.origin.route(
            "/a.jpg", OriginAnswer.validated(Fixtures.photo, lastModified: Self.date, fields: Self.fields))
        _ = try await fixture.get("/latest")

        for _ in 0..<2 {
            fixture.clock.advance(by: 100)
            #expect(try await fixture.get("/latest").provenance == .revalidated(.stale))
        }
        let asked = fixture.origin.log.requests.map { "\($0.path) \($0["if-modified-since"] ?? "-")" }
        #expect(
            asked == [
                "/latest -", "/a.jpg -", "/latest -", "/a.jpg \(Self.date)", "/latest -",
                "/a.jpg \(Self.date)",
            ])
    }
}
