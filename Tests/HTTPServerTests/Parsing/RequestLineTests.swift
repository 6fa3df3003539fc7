// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("The request line (RFC 9112 §2, §3)")
struct RequestLineTests {
    @Test("Every known method is recognized by its name in capitals (RFC 9110 §9.1)")
    func methods() {
        for method in HTTPMethod.allCases where method != .connect {
            #expect(HeadReading(head(method: method.rawValue)).request.method == method)
        }
    }

    @Test(
        "An unknown method is 501, and so is a known one in small letters (RFC 9110 §9.1)",
        arguments: ["BREW", "get", "Get", "GETS", "GE", "M-SEARCH", "PROPFIND", "A", "!#$%&'*+-.^_`|~0"])
    func unknownMethods(name: String) {
        #expect(HeadReading(head(method: name)).error == .notImplemented)
    }

    @Test("A method longer than any known one is 501, however long the line (RFC 9112 §3)")
    func endlessMethod() {
        #expect(HeadReading(String(repeating: "A", count: 900)).error == .notImplemented)
    }

    @Test(
        "A method that is not a token is 400 (RFC 9112 §3.1)",
        arguments: [
            "G ET", "G\u{E9}T", "GET:", "(GET)", "", "G\tET", "\"GET\"", "G\u{7F}", "\0GET", "\0\0PUT",
        ])
    func malformedMethods(name: String) {
        #expect(HeadReading(head(method: name)).error?.status == 400)
    }

    @Test("CONNECT is 501: the server is no tunnel (RFC 9110 §9.3.6)")
    func connect() {
        #expect(HeadReading(head(method: "CONNECT", target: "a:443")).error == .notImplemented)
    }

    @Test(
        "Anything but one space between the parts is 400 (RFC 9112 §3)",
        arguments: [
            "GET  / HTTP/1.1", "GET /  HTTP/1.1", " GET / HTTP/1.1", "GET / HTTP/1.1 ", "GET\t/ HTTP/1.1",
            "GET /\tHTTP/1.1", "GET /a b HTTP/1.1", "GET /", "GET / ", "GET", "GET ", "GET HTTP/1.1",
            "GET  HTTP/1.1", "/ HTTP/1.1", "GET /\u{0B}HTTP/1.1", "GET\r/ HTTP/1.1", "GET /\0 HTTP/1.1",
        ])
    func spaces(line: String) {
        #expect(HeadReading("\(line)\r\nHost: a\r\n\r\n").error?.status == 400)
    }

    // MARK: - Versions

    @Test("HTTP/1.1 and higher minor versions are treated as 1.1 (RFC 9110 §2.5)", arguments: 1...9)
    func minorVersions(minor: Int) {
        let reading = HeadReading("GET / HTTP/1.\(minor)\r\nHost: a\r\n\r\n")

        #expect(reading.framing == RequestFraming())
        #expect(!reading.request.isHTTP10)
    }

    @Test(
        "Another major version is 505 (RFC 9110 §15.6.6)",
        arguments: ["HTTP/2.0", "HTTP/0.9", "HTTP/3.0", "HTTP/9.9"])
    func majorVersions(version: String) {
        #expect(HeadReading("GET / \(version)\r\nHost: a\r\n\r\n").error == .versionNotSupported)
    }

    @Test("The preface of HTTP/2 is 505 (RFC 9113 §3.4)")
    func http2Preface() {
        #expect(HeadReading("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").error == .versionNotSupported)
    }

    @Test(
        "A version that is not HTTP/digit.digit is 400 (RFC 9112 §2.3)",
        arguments: [
            "http/1.1", "Http/1.1", "HTTP/1", "HTTP/11", "HTTP/1.10", "HTTP/01.1", "HTTP/1,1", "HTTP1.1",
            "HTTP/1.x", "HTTP/x.1", "HTTP/ 1.1", "HTTP/-1.1", "HTTPS/1.1", "ICAP/1.0", "HTTP/1.1\0", "HTTP/2",
        ])
    func malformedVersions(version: String) {
        #expect(HeadReading("GET / \(version)\r\nHost: a\r\n\r\n").error?.status == 400)
    }

    // MARK: - Targets

    @Test(
        "The origin-form is passed on unchanged (RFC 9112 §3.2.1)",
        arguments: [
            "/", "/a/b", "/a?b=c", "//a", "/?", "/%20%", "/a:b@c;d=e,f!$&'()*+", "/?u=http://a/b?c", "/..//.",
            "/?a[]={b}|c^`\\", "/~a",
        ])
    func originForm(target: String) {
        #expect(HeadReading(head(target: target)).request.target == target)
    }

    @Test(
        "A target with an octet that no URI contains is 400 (RFC 9112 §3.2)",
        arguments: ["/a#b", "/#", "/\u{E9}", "/a\"b", "/<a>", "/\u{7F}", "/a\u{1}", "/a\u{80}"])
    func octets(target: String) {
        #expect(HeadReading(head(target: target)).error == .unencodedTarget)
    }

    @Test(
        "The answer to a target with a space or with UTF-8 says what to encode",
        arguments: ["/a b", "/\u{E9}"])
    func unencodedTargets(target: String) throws {
        let error = try #require(HeadReading(head(target: target)).error)
        let answer = ServerProblem.response(error.status, detail: error.detail())

        guard case .bytes(let bytes) = answer.body else {
            return #expect(Bool(false), "the answer has no body")
        }
        #expect(answer.status.code == 400)
        #expect(String(decoding: bytes, as: UTF8.self).contains("percent-encode"))
    }

    @Test(
        "The absolute-form is parsed, its scheme in any case (RFC 9112 §3.2.2)",
        arguments: [
            ("http://b/c?d", "/c?d", "b"), ("HTTP://b:80/", "/", "b:80"), ("https://b/c", "/c", "b"),
            ("HttpS://b.c:/d", "/d", "b.c:"), ("http://[::1]:8080/a", "/a", "[::1]:8080"),
            ("http://b//c", "//c", "b"), ("http://b/c?http://d/", "/c?http://d/", "b"),
        ])
    func absoluteForm(target: String, reduced: String, host: String) {
        let request = HeadReading(head(target: target)).request

        #expect(request.target == reduced)
        #expect(request.values(of: .host) == [host])
    }

    @Test(
        "An absolute-form without a path means the root, with or without a query (RFC 9112 §3.2.1)",
        arguments: [
            ("http://b", "/", "b"), ("http://b.c:80", "/", "b.c:80"), ("http://b?c=d/e", "/?c=d/e", "b"),
            ("https://b.c?", "/?", "b.c"), ("HTTP://[::1]?x", "/?x", "[::1]"),
        ])
    func emptyPath(target: String, reduced: String, host: String) {
        let request = HeadReading(head("Accept: x\r\n", target: target)).request

        #expect(request.target == reduced)
        #expect(request.values(of: .host) == [host])
        #expect(request.values(of: .accept) == ["x"])
    }

    @Test("The authority of an absolute-form replaces a missing Host of HTTP/1.0 (RFC 9112 §3.2.2)")
    func absoluteFormWithoutHost() {
        let request = HeadReading("GET http://b:1/c HTTP/1.0\r\n\r\n").request

        #expect(request.target == "/c")
        #expect(request.values(of: .host) == ["b:1"])
    }

    @Test(
        "An absolute-form of another scheme, or without a valid authority, is 400 (RFC 9110 §4.2)",
        arguments: [
            "ftp://b/", "http:/b", "http:///c", "http://", "https://", "http://?a", "http://u@b/",
            "http://u:p@b/", "http://b:x/", "http://b:65536/", "http://[::1/", "http://[b]/", "http://b c/",
            "httpx://b/", "http:b", "://b/", "http://b%/", "http://b\\c/", "urn:a", "ws://b/",
        ])
    func badAbsoluteForms(target: String) {
        #expect(HeadReading(head(target: target)).error?.status == 400)
    }

    @Test(
        "The authority-form and relative references are 400 (RFC 9112 §3.2.3)",
        arguments: ["a:443", "a", "?a", "a/b", "../a", "[::1]:1", ":80"])
    func authorityForm(target: String) {
        #expect(HeadReading(head(target: target)).error == .malformed)
    }

    @Test("The asterisk-form is accepted for OPTIONS alone (RFC 9112 §3.2.4)")
    func asteriskForm() {
        #expect(HeadReading(head(method: "OPTIONS", target: "*")).request.target == "*")
        #expect(HeadReading(head(method: "GET", target: "*")).error == .malformed)
        #expect(HeadReading(head(method: "OPTIONS", target: "**")).error == .malformed)
        #expect(HeadReading(head(method: "OPTIONS", target: "*/")).error == .malformed)
    }

    @Test("OPTIONS for a URI without path and query concerns the server (RFC 9112 §3.2.4)")
    func optionsForServer() {
        let request = HeadReading(head(method: "OPTIONS", target: "http://b.c:8")).request

        #expect(request.target == "*")
        #expect(request.values(of: .host) == ["b.c:8"])
        #expect(HeadReading(head(method: "OPTIONS", target: "http://b?c")).request.target == "/?c")
    }
}
