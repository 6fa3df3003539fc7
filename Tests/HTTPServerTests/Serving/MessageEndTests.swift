// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import HTTPServer

@Suite("Where messages end")
struct MessageEndTests {
    @Test("A client that waits for 100 is answered at once if no content is needed (RFC 9110 §10.1.1)")
    func expectations() async throws {
        var configuration = HTTPServer.Configuration.longTimeouts
        configuration.limits.contentBytes = 10
        let server = try TestServer(configuration) { .now(text(String(decoding: $0.body, as: UTF8.self))) }
        let statuses = try await onThread {
            try ["Content-Length: 11", "Content-Length: 0", "X: no length at all", "Content-Length: 3"].map {
                field in
                let client = try server.client()
                defer { client.hangUp() }
                try client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\(field)\r\n\r\n")
                return try client.answer().status
            }
        }
        #expect(statuses == [413, 200, 200, 100])
    }

    @Test(
        "A client that waits to send content that no handler reads is answered at once, and none of it is read (RFC 9110 §10.1.1)"
    )
    func unwantedContent() async throws {
        let server = try TestServer { .now(text($0.target)) }
        let head = "POST /no-content HTTP/1.1\r\nHost: a\r\nContent-Length: 28\r\n"
        try await onThread {
            let client = try server.client()
            try client.send(head + "Expect: 100-continue\r\n\r\n")
            let answer = try client.answer()
            #expect(answer.status == 200 && answer.text == "/no-content")
            #expect(answer["Connection"] == "close")
            // What resembles a request is content, which is no longer read.
            let early = try server.client()
            try early.send(head + "Expect: 100-continue\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try early.answer().status == 200)
            #expect(throws: RawHTTPClient.Failure.self) { try early.answer() }
        }
    }

    @Test("Content that is sent without waiting for 100 is read all the same (RFC 9110 §10.1.1)")
    func earlyContent() async throws {
        let server = try TestServer { .now(text(String(decoding: $0.body, as: UTF8.self))) }
        try await onThread {
            let client = try server.client()
            try client.send(
                "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc"
                    + get("/"))
            var answer = try client.answer()
            if answer.status == 100 { answer = try client.answer() }
            #expect(answer.text == "abc")
            #expect(try client.answer().status == 200)
            client.hangUp()
        }
    }

    @Test(
        "An HTTP/1.0 client that sends keep-alive keeps its connection, and the answer says so (RFC 9112 §9.3)"
    )
    func keepAliveOfHTTP10() async throws {
        let server = try TestServer { .now(text($0.target)) }
        try await onThread {
            let client = try server.client()
            for target in ["/a", "/b"] {
                try client.send("GET \(target) HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
                let answer = try client.answer()
                #expect(answer.text == target)
                #expect(answer["Connection"] == "keep-alive")
            }
            client.hangUp()
        }
    }

    @Test(
        "No content follows HEAD, 204 or 304, whatever the handler made, and the next answer is read correctly (RFC 9112 §6.3)",
        arguments: [("HEAD", 200), ("HEAD", 404), ("GET", 204), ("GET", 304), ("HEAD", 304)])
    func noContent(method: String, status: Int) async throws {
        let server = try TestServer { request in
            guard request.target == "/empty" else { return .now(text("next")) }
            var response = HTTPResponse(status: HTTPStatus(UInt16(status)))
            response.body = .bytes(Array("not sent".utf8))
            return .now(response)
        }
        let received = try await onThread {
            let client = try server.client()
            defer { client.hangUp() }
            try client.send(
                "\(method) /empty HTTP/1.1\r\nHost: a\r\n\r\n" + get("/next", "Connection: close\r\n"))
            return String(decoding: try client.receiveAll(), as: UTF8.self)
        }
        let parts = received.split(separator: "\r\n\r\n")

        #expect(parts.count == 3)
        #expect(parts.first?.hasPrefix("HTTP/1.1 \(status) ") == true)
        #expect(parts.first?.contains("Content-Length: 8") == (status == 200 || status == 404))
        #expect(parts.dropFirst().first?.hasPrefix("HTTP/1.1 200 OK\r\n") == true)
        #expect(parts.last == "next")
    }

    @Test(
        "No content follows the refusal of HEAD either, as far as its method can be read (RFC 9110 §9.3.2)",
        arguments: [
            ("HEAD / HTTP/1.1\r\nHost : a\r\n\r\n", 400), ("\r\nHEAD / HTTP/1.1\r\n\r\n", 400),
            ("HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n", 413),
            ("HEAD / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400),
        ])
    func refusedHead(request: String, status: Int) async throws {
        let server = try TestServer { .now(text($0.target)) }
        let received = try await onThread {
            let client = try server.client()
            defer { client.hangUp() }
            try client.send(request)
            return String(decoding: try client.receiveAll(), as: UTF8.self)
        }
        #expect(received.hasPrefix("HTTP/1.1 \(status) "))
        #expect(received.hasSuffix("\r\n\r\n"))
        #expect(received.contains("\r\nContent-Length: "))
    }
}
