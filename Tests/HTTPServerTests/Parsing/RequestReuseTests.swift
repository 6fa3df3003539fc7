// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("A reused request")
struct RequestReuseTests {
    private func parse(_ text: String, into request: inout HTTPRequest) {
        var parser = RequestParser(RequestLimits())
        _ = Array(text.utf8).withUnsafeBytes { parser.parse($0, into: &request) }
    }

    @Test("Reading the next head into a request allocates nothing")
    func storage() {
        var request = HTTPRequest()
        parse(head("Accept: image/*\r\nX-A: b\r\n", target: "/a"), into: &request)
        let heads = request.head.withUnsafeBytes { $0.baseAddress }
        let lines = request.lines.withUnsafeBytes { $0.baseAddress }

        for number in 0..<1_000 { parse(head("Accept: \(number % 10)\r\n", target: "/b"), into: &request) }

        #expect(request.head.withUnsafeBytes { $0.baseAddress } == heads)
        #expect(request.lines.withUnsafeBytes { $0.baseAddress } == lines)
    }

    @Test("Reading the next head leaves a retained copy unchanged")
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

    @Test("A request accepts only a Host that it has validated, whatever came before (RFC 9110 §7.2)")
    func hosts() {
        var request = HTTPRequest()
        func isMalformed(_ host: String) -> Bool {
            var parser = RequestParser(RequestLimits())
            let bytes = Array("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8)
            return bytes.withUnsafeBytes { parser.parse($0, into: &request) } == .refused(.malformed)
        }

        for host in ["a.example", "a.example", "a.example:80", "b.example", "[::1]", "a.example"] {
            #expect(!isMalformed(host))
            for other in [
                "a.exampl\u{20}e", "a/example", "a.example:8o", "a.example:", "\(host)@", "",
            ] {
                #expect(isMalformed(other) == (other != "a.example:"))
            }
        }
    }

    @Test(
        "A reused request contains nothing of the one before: neither lines nor content nor flags of repetition"
    )
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
