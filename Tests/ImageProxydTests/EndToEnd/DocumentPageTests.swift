// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("The documentation at /docs/")
struct DocumentPageTests {
    @Test("Pages are served with their type, a tag and a strict policy, on both listeners")
    func pages() async throws {
        let proxy = try await Proxy()

        let page = try await proxy.get("/docs/caching.html")
        let again = try await proxy.get("/docs/caching.html", "If-None-Match: \(try #require(page["ETag"]))")
        let admin = try await proxy.administer("GET", "/docs/moving/")
        let drawing = try await proxy.get("/docs/images/caching.svg")

        #expect(page.status == 200 && page["Content-Type"] == "text/html; charset=utf-8")
        #expect(page["Content-Security-Policy"]?.hasPrefix("default-src 'none'; script-src 'self'") == true)
        #expect(page.text.contains("<h1 id=\"how-pictures-are-cached\">"))
        #expect(again.status == 304)
        #expect(admin.status == 200 && admin.text.contains("Moving from another proxy"))
        #expect(drawing["Content-Type"] == "image/svg+xml")
    }

    @Test("/docs leads to the folder, other methods are refused, and an unknown page is 404")
    func others() async throws {
        let proxy = try await Proxy()

        let folder = try await proxy.get("/docs")

        #expect(folder.status == 308 && folder["Location"] == "docs/")
        #expect(try await proxy.get("/docs/").text.contains("<title>Documentation</title>"))
        #expect(try await proxy.ask("HEAD", "/docs/").body.isEmpty)
        #expect(try await proxy.ask("POST", "/docs/url.html").status == 405)
        #expect(try await proxy.get("/docs/none.html").status == 404)
    }

    @Test("playground: false switches it off for clients, and the admin listener keeps it")
    func off() async throws {
        let proxy = try await Proxy(settings: #""playground": false"#)

        #expect(try await proxy.get("/docs/url.html").status == 404)
        #expect(try await proxy.administer("GET", "/docs/url.html").status == 200)
    }

    @Test("Another proxy's URLs below /docs/ are answered, except those of pages")
    func dialect() async throws {
        let proxy = try await Proxy(
            settings: #""dialects": [{"name": "imgix", "prefix": "/", "base": "http://127.0.0.1:1/"}]"#)

        #expect(try await proxy.get("/docs/url.html").status == 200)
        #expect(try await proxy.get("/docs/cat.jpg?w=100").code == "address_forbidden")
    }
}
