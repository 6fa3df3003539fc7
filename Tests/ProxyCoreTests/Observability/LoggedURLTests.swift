// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("A URL in the log")
struct LoggedURLTests {
    @Test(
        "A value is blanked where its name or its look says that it may be a secret",
        arguments: [
            ("w=100&h=50", "w=100&h=50"),
            ("X-Amz-Signature=abc&w=1", "X-Amz-Signature=***&w=1"),
            ("x-amz-date=20260101T000000Z", "x-amz-date=***"),
            ("sig=a&Token=b&api_key=c&s=d", "sig=***&Token=***&api_key=***&s=***"),
            ("%73ig=a;access%5Ftoken=b", "%73ig=***;access%5Ftoken=***"),
            ("id=0123456789abcdef0123456789abcdef", "id=***"),
            ("id=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.x", "id=***"),
            ("0123456789abcdef0123456789abcdef", "***"),
            (
                "title=a-very-long-title-of-a-picture-without-digits",
                "title=a-very-long-title-of-a-picture-without-digits"
            ),
            ("token=", "token="), ("&&", "&&"), ("", ""),
        ])
    func secrets(query: String, shown: String) {
        #expect(LoggedURL.redacted(query) == shown)
    }

    @Test("Each setting says what its documentation says")
    func details() throws {
        let url = try SourceURL(parsing: "https://example.org:8443/a/b.jpg?sig=hush&w=1")

        let said = LogConfiguration.URLDetail.allCases.map { LoggedURL(url, as: $0) }

        #expect(said.map(\.host) == ["", "example.org", "example.org", "example.org"])
        #expect(said.map(\.port) == [0, 8443, 8443, 8443])
        #expect(
            said.map(\.text) == [
                "", "", "https://example.org:8443/a/b.jpg", "https://example.org:8443/a/b.jpg?sig=***&w=1",
            ])
    }

    @Test("A long URL is cut")
    func long() throws {
        let url = try SourceURL(parsing: "https://example.org/" + String(repeating: "a", count: 4_000))

        let text = LoggedURL(url, as: .path).text

        #expect(text.utf8.count == LoggedURL.maxBytes)
        #expect(text.hasSuffix("a..."))
    }
}
