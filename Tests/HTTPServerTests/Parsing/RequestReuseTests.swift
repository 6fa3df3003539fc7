// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("A request that is filled again and again")
struct RequestReuseTests {
    private func parse(_ text: String, into request: inout HTTPRequest) {
        var parser = RequestParser(RequestLimits())
        _ = Array(text.utf8).withUnsafeBytes { parser.parse($0, into: &request) }
    }

    @Test("keeps its storage: reading the next head into it allocates nothing")
    func storage() {
        var request = HTTPRequest()
        parse(head("Accept: image/*\r\nX-A: b\r\n", target: "/a"), into: &request)
        let heads = request.head.withUnsafeBytes { $0.baseAddress }
        let lines = request.lines.withUnsafeBytes { $0.baseAddress }

        for number in 0..<1_000 { parse(head("Accept: \(number % 10)\r\n", target: "/b"), into: &request) }

        #expect(request.head.withUnsafeBytes { $0.baseAddress } == heads)
        #expect(request.lines.withUnsafeBytes { $0.baseAddress } == lines)
    }

    @Test("leaves a copy that somebody keeps as it was")
    func copies() {
        var request = HTTPRequest()
        parse(head("Accept: 1\r\n", method: "PUT", target: "/a"), into: &request)
        let kept = request

        parse("GET http://b?c HTTP/1.0\r\nRange: bytes=0-\r\n\r\n", into: &request)

        #expect(kept.method == .put)
        #expect(kept.target == "/a")
        #expect(kept.values(of: .accept) == ["1"])
        #expect(kept.values(of: .host) == ["a"])
        #expect(request.target == "/?c")
        #expect(!request.has(.accept))
        #expect(request.isHTTP10)
    }

    @Test("holds nothing of the request before: neither lines nor content nor marks of repetition")
    func leftovers() {
        var request = HTTPRequest()
        parse(head("Accept: 1\r\nAccept: 2\r\nRange: x\r\n", method: "POST"), into: &request)
        request.body = [1, 2, 3]

        parse(head("Accept: 3\r\n"), into: &request)

        #expect(request.body.isEmpty)
        #expect(!request.repeats(.accept))
        #expect(!request.has(.range))
        #expect(request.values(of: .accept) == ["3"])
    }
}
