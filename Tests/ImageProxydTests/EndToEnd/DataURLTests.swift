// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives
import TestSupport
import Testing

@Suite("Data URLs (encoding=base64 of weserv)")
struct DataURLTests {
    @Test("A data URL of a large picture is refused, and one that the client has is not made again")
    func bounds() async throws {
        let proxy = try await Proxy(settings: #""dialects": [{"name": "weserv", "prefix": "/w"}]"#)
        proxy.origin.route("/a.jpg", .body(Fixtures.photo))
        let url = proxy.origin.url("/a.jpg").asQueryValue
        let (small, large) = ("/w/?url=\(url)&output=png&w=20", "/w/?url=\(url)&output=png&w=1400")
        let pictures = [try await proxy.get(small).body, try await proxy.get(large).body]

        let text = try await proxy.get("\(small)&encoding=base64")
        let tag = try #require(text["ETag"])
        let again = try await proxy.get("\(small)&encoding=base64", "If-None-Match: \(tag)")
        let refused = try await proxy.get("\(large)&encoding=base64")

        #expect(pictures[1].count > 1 << 20)
        #expect(text.text == "data:image/png;base64," + Data(pictures[0]).base64EncodedString())
        #expect(again.status == 304 && again["ETag"] == tag)
        #expect(refused.status == 422 && refused.code == "data_url_too_large")
    }
}
