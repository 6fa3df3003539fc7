// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import HTTPServer

@Suite("Octets that can't get into an answer")
struct ResponseSafetyTests {
    private static let octets: ClosedRange<UInt8> = 0...255

    @Test("A field value contains no octet that ends a line or a string (RFC 9110 §5.5)")
    func values() {
        for octet in Self.octets {
            let isAllowed = octet == 0x09 || octet >= 0x20 && octet != 0x7F
            for bytes in [[0x61, octet, 0x61], [0x61, 0x0D, octet, 0x61], [0x61, octet, 0x0A, 0x61]] {
                #expect((FieldValue(bytes) != nil) == (bytes.count == 3 && isAllowed), "\(bytes)")
            }
        }
        // Scalars whose last byte, or whose UTF-16 unit's, is a line end are not changed.
        for scalar in ["\u{010D}", "\u{010A}", "\u{0D0A}", "\u{560A}", "\u{2028}", "\u{85}"] {
            #expect(FieldValue("a\(scalar)b")?.bytes.contains { $0 == 0x0D || $0 == 0x0A } == false)
        }
    }

    @Test("A field name contains only octets of a token (RFC 9110 §5.1)")
    func names() {
        let marks = Set("!#$%&'*+-.^_`|~".utf8)
        for octet in UInt8(0)..<0x80 {
            let character = Character(UnicodeScalar(octet))
            let isAllowed = character.isLetter || character.isNumber || marks.contains(octet)
            #expect((FieldName("a\(character)b") != nil) == isAllowed, "\(octet)")
        }
    }

    @Test("An id that a client chose contains only harmless octets")
    func ids() {
        for octet in Self.octets {
            let id = [0x61, octet].withUnsafeBytes { RequestID($0) }
            let isHarmless = octet > 0x20 && octet < 0x7F && !"\"\\<>".utf8.contains(octet)
            #expect(id == nil || isHarmless, "\(octet)")
        }
    }

    @Test("Only the server writes the fields that delimit an answer and its connection (RFC 9112 §6)")
    func framing() throws {
        let own = ["Content-Length", "content-length", "TRANSFER-ENCODING", "Connection"]
        var fields = HTTPFields()
        var scratch = FieldScratch()
        for name in try own.map({ try #require(FieldName($0)) }) {
            fields.append(name, FieldValue(0))
            fields.set(name, text: "0")
            scratch.append(name, integer: 0)
            fields.append(name, text: "0")
        }
        #expect(fields.count == 0)
        #expect(PreparedFields(fields).bytes.isEmpty)
        #expect(scratch.withBytes { $0.isEmpty })
    }

    @Test("A line whose value is invalid is removed whole, and the other lines stay (RFC 9110 §5.5)")
    func linesTakenBack() {
        var lines = HTTPFields()
        lines.append(.etag, text: "\"a\"")
        for octet in Self.octets where octet != 0x09 && (octet < 0x20 || octet == 0x7F) {
            lines.append(.vary) { $0 += [0x61, octet, 0x61] }
        }
        for text in ["a\r\nX-Injected: 1", " a", "a ", "\ta"] { lines.append(.vary, text: text) }
        lines.append(.age) { $0 += "1".utf8 }

        #expect(lines.bytes == Array("ETag: \"a\"\r\nAge: 1\r\n".utf8))
    }

    @Test("A prefix of prepared lines counts as dated only if it contains Date")
    func dateAmongTheFirst() {
        var lines = HTTPFields()
        lines.append(.etag, text: "\"a\"")
        let undated = lines.count
        lines.append(.date, text: "Sun, 06 Nov 1994 08:49:37 GMT")
        let dated = lines.count
        lines.append(.age, text: "1")

        #expect(!PreparedFields(lines, first: undated).isDated && PreparedFields(lines, first: dated).isDated)
        #expect(PreparedFields(lines, first: undated).bytes == Array("ETag: \"a\"\r\n".utf8))
        #expect(PreparedFields(lines).isDated)
    }

    @Test("A literal that is not a field value stops a debug build")
    func literals() async {
        await #expect(processExitsWith: .failure) {
            var scratch = FieldScratch()
            scratch.append(.age, "a\r\n", integer: 1, "")
        }
    }

    @Test("A date that is not a field value is not sent")
    func date() async throws {
        let server = try HTTPServer(
            configuration: .init(),
            handler: TestServer.Handler(respond: { .now(text($0.target)) }, finished: { _ in })
        ) { _ in Array("today\r\nX-Injected: 1".utf8) }
        guard case .tcp(_, let port)? = try server.listen(on: [.tcp(host: "127.0.0.1", port: 0)]).first else {
            return
        }
        try server.start()
        let answer = try await onThread {
            let client = try RawHTTPClient(port: port)
            defer { client.hangUp() }
            try client.send(get("/"))
            return try client.answer()
        }
        #expect(answer["Date"] == nil)
        #expect(answer["X-Injected"] == nil)
        #expect(answer.text == "/")
        await server.drain(within: .zero)
    }

    /// Copies everything that a client sent into its answer, wherever the types permit it.
    private static func echo(_ request: HTTPRequest) -> HTTPAnswer {
        var response = HTTPResponse(status: .ok)
        for word in [request.target] + request.values(of: echoed) + request.values(of: .userAgent) {
            if let name = FieldName("Echo-\(word)") { response.fields.append(name, FieldValue(1)) }
            if let value = FieldValue(word) { response.fields.append(echoed, value) }
        }
        response.prepared = PreparedFields(response.fields)
        return .now(response)
    }

    private static let echoed = FieldName(literal: "Echo")

    /// Where in a request a client's text may stand: what precedes it and what follows.
    private static let places = [
        ("GET /", " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nEcho: ", "\r\n\r\n"),
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Request-Id: ", "\r\n\r\n"),
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nUser-Agent: b", "\r\n\r\n"),
    ]

    @Test("A handler that echoes what the client sent never adds a line", arguments: places)
    func echoes(before: String, behind: String) async throws {
        let server = try TestServer { Self.echo($0) }
        let answers = try await onThread {
            try Self.octets.map { octet -> String in
                let client = try server.client()
                defer { client.hangUp() }
                let word = [0x61, octet] + Array("X-Injected:1".utf8)
                try client.send(bytes: Array(before.utf8) + word + Array(behind.utf8))
                client.finishSending()
                return String(decoding: try client.receiveAll(), as: UTF8.self)
            }
        }
        for answer in answers {
            #expect(answer.split { $0.isNewline || $0 == "\0" }.allSatisfy { !$0.hasPrefix("X-Injected") })
            #expect(answer.ranges(of: "HTTP/1.1 ").count <= 1)
        }
        #expect(answers.count { $0.hasPrefix("HTTP/1.1 200") } > 60)
    }
}
