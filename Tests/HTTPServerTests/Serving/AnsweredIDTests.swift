// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import HTTPServer

@Suite("The id of an answer")
struct AnsweredIDTests {
    @Test("Every answer has an id: the client's own if it is well-formed, else a generated one")
    func requestID() async throws {
        let server = try TestServer { .now(text($0.target)) }
        try await onThread {
            let client = try server.client()
            try client.send(get("/", "X-Request-Id: abc-1.2:3\r\n"))
            #expect(try client.answer()["X-Request-Id"] == "abc-1.2:3")
            var own: Set<String> = []
            for bad in [
                "", "X-Request-Id: a b\r\n", "X-Request-Id: \(String(repeating: "x", count: 65))\r\n",
                "X-Request-Id: a<b\r\n",
            ] {
                try client.send(get("/", bad))
                let id = try #require(try client.answer()["X-Request-Id"])
                #expect(id.count == 16 && id.allSatisfy(\.isHexDigit))
                own.insert(id)
            }
            #expect(own.count == 4)
        }
    }

    @Test(
        "A refusal has the id and the trace of its request once the head is read",
        arguments: [
            (413, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999"),
            (421, "GET https://a/ HTTP/1.1\r\nHost: a"), (400, "GET / HTTP/1.1"),
            (400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked"),
            (501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked"),
            (417, "GET / HTTP/1.1\r\nHost: a\r\nExpect: wonders"),
        ])
    func refusedID(status: Int, head: String) async throws {
        let server = try TestServer { .now(text($0.target)) }
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        try await onThread {
            let client = try server.client()
            try client.send(
                "\(head)\r\nX-Request-Id: me\r\ntraceparent: 00-\(trace)-00f067aa0ba902b7-01\r\n\r\n")
            let answer = try client.answer()
            #expect(answer.status == status)
            #expect(answer["X-Request-Id"] == "me")
        }
        let exchange = try #require(await server.exchanges.wait { !$0.isEmpty }.first)
        #expect(exchange.traceID == UInt128(trace, radix: 16))
    }
}
