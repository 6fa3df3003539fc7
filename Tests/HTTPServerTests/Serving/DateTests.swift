// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import HTTPServer

@Suite("The Date of an answer")
struct DateTests {
    @Test("The server keeps the Date that a handler sets (RFC 9110 §6.6.1)")
    func ownDate() async throws {
        let own = "Mon, 07 Nov 1994 08:49:37 GMT"
        let server = try TestServer { request in
            var (fields, response) = (HTTPFields(), text("x"))
            if let value = FieldValue(own) { fields.append(.date, value) }
            if request.target == "/prepared" {
                response.prepared = PreparedFields(fields)
            } else {
                response.fields.append(fields)
            }
            return .now(response)
        }
        try await onThread {
            let client = try server.client()
            for target in ["/prepared", "/plain"] {
                try client.send(get(target))
                let answer = try client.answer()
                #expect(answer.fields.filter { $0.name == "Date" }.map(\.value) == [own])
            }
        }
    }
}

@Suite("The server's own date")
struct ServerDateTests {
    @Test(
        "The server's date is an IMF-fixdate (RFC 9110 §5.6.7)",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
        ] as [(Int64, String)])
    func fixdate(seconds: Int64, text: String) {
        #expect(String(decoding: ServerDate.imfFixdate(seconds), as: UTF8.self) == text)
    }
}
