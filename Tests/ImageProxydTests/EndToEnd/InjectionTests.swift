// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("Injected header lines")
struct InjectionTests {
    /// Octets that end a line for some parser, as text that origins and clients may put into theirs.
    private static let ends = [
        "\r", "\n", "\0", "\u{B}", "\u{C}", "\u{85}", "\u{1}", "\u{7F}", "\r\t", "%0d%0a",
    ]

    /// Lines of an origin that an answer may be made from.
    private static let fields = [
        "Last-Modified", "ETag", "Content-Type", "Content-Disposition", "Cache-Control", "Expires", "Age",
        "Date",
        "Location", "Vary", "Link", "Warning", "X-Request-Id", "Content-Language",
    ]

    /// Everything that the daemon sends in answer to a request that ends its connection.
    private static func ask(_ proxy: Proxy, _ target: String, _ lines: [UInt8] = []) async throws -> String {
        let path = proxy.daemon.socketPath
        return try await onThread {
            let client = try RawHTTPClient(unixSocket: path)
            defer { client.hangUp() }
            try client.send(
                bytes: Array("HEAD \(target) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n".utf8) + lines
                    + Array("\r\n".utf8))
            return String(decoding: try client.receiveAll(), as: UTF8.self)
        }
    }

    /// One head, every line of which has a name of its own kind and no control character.
    private static func expectOneHead(_ answer: String, _ comment: Comment) {
        let lines = answer.split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.suffix(2) == ["", ""], comment)
        #expect(lines.first?.hasPrefix("HTTP/1.1 ") == true, comment)
        for line in lines.dropFirst().dropLast(2) {
            #expect(line.contains(": "), comment)
            #expect(!line.lowercased().hasPrefix("x-injected"), comment)
            #expect(line.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, comment)
        }
    }

    @Test("An origin can't add a line to an answer, whatever its own lines contain")
    func origin() async throws {
        let proxy = try await Proxy()
        let good = [
            "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "ETag": "\"a\"", "Content-Type": "image/jpeg",
        ]
        for field in Self.fields {
            for (number, end) in Self.ends.enumerated() {
                let path = "/\(field)-\(number).jpg"
                let value = "\(good[field] ?? "a")\(end)X-Injected: 1"
                // Named twice if that is the body's own type: the last one counts.
                let hostile = OriginAnswer.body(Fixtures.photo, type: "image/jpeg", fields: [(field, value)])
                proxy.origin.route(path, hostile)
                proxy.origin.route(path + ".gone", .status(number < 5 ? 503 : 302, fields: [(field, value)]))
                let targets = [proxy.target(path), proxy.target(path, "transform=resize:20x")]
                for target in targets + targets + [proxy.target(path + ".gone")] {
                    let answer = try await Self.ask(proxy, target)
                    Self.expectOneHead(answer, "\(field) with \(end.debugDescription)")
                }
            }
        }
        #expect(proxy.origin.log.requests.count > Self.fields.count * Self.ends.count)
    }

    @Test("A client can't add a line to its answer, whatever its target and its request id contain")
    func client() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/photo.jpg", .body(Fixtures.photo))
        for end in Self.ends + ["%0D%0A", "%00", "\"", "<", "\\"] {
            let escaped = end.utf8.map { "%" + String(Int($0) + 0x100, radix: 16).dropFirst() }.joined()
            for text in [escaped, end] where text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) {
                for target in [
                    "/\(text)X-Injected:1", "/img?url=\(text)X-Injected:1", "/img?\(text)X-Injected:1=1",
                    proxy.target("/photo.jpg", "transform=\(text)X-Injected:1"),
                    proxy.target("/photo.jpg\(text)X-Injected:1"),
                ] {
                    Self.expectOneHead(try await Self.ask(proxy, target), "\(target)")
                }
            }
            for name in [
                "X-Request-Id", "Origin", "If-None-Match", "Accept", "Range", "Access-Control-Request-Method",
            ] {
                let line = Array("\(name): a\(end)X-Injected: 1\r\n".utf8)
                Self.expectOneHead(
                    try await Self.ask(proxy, proxy.target("/photo.jpg"), line),
                    "\(name) \(end.debugDescription)")
            }
        }
    }
}
