// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

@Suite("Pictures that are streamed while they are received")
struct StreamingTests {
    private static let picture = Picture()

    /// Sends a request, and reads the answer's head and as many bytes of content as the origin has sent.
    private static func begin(
        _ proxy: Proxy, _ target: String, _ line: String = "GET %@ HTTP/1.1\r\nHost: a\r\n\r\n"
    ) throws -> (client: RawHTTPClient, head: RawHTTPClient.Answer, body: [UInt8]) {
        let client = try RawHTTPClient(unixSocket: proxy.daemon.socketPath)
        try client.send(line.replacing("%@", with: target))
        let head = try client.head()
        var body: [UInt8] = []
        while body.count < picture.first.count {
            if head["Transfer-Encoding"] == nil {
                body += try client.bytes(picture.first.count - body.count)
            } else {
                body += try client.chunk() ?? []
            }
        }
        return (client, head, body)
    }

    /// Reads the rest of an answer that has begun.
    private static func end(
        _ answer: (client: RawHTTPClient, head: RawHTTPClient.Answer, body: [UInt8])
    ) throws -> [UInt8] {
        var body = answer.body
        if answer.head["Transfer-Encoding"] == nil {
            return body + (try answer.client.bytes(picture.rest.count))
        }
        while let chunk = try answer.client.chunk() { body += chunk }
        return body
    }

    @Test(
        "All waiters get the first bytes before the origin has sent the rest, and later ones get them from the beginning",
        arguments: Picture.Length.allCases)
    func firstBytes(length: Picture.Length) async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        proxy.origin.route("/a.jpg", Self.picture.answer(gate, length))
        let target = proxy.target("/a.jpg")

        let bodies = try await onThread {
            // Each has its first bytes before the next one comes, and the origin is held all the while.
            let answers = try (0..<3).map { _ in try Self.begin(proxy, target) }
            for (number, answer) in answers.enumerated() {
                #expect(answer.head.status == 200)
                #expect(answer.head["Content-Type"] == "image/jpeg")
                #expect(answer.head["Cache-Control"] == "public, max-age=600")
                #expect(answer.head["ETag"] == nil)
                #expect(
                    answer.head["Content-Length"]
                        == (length == .declared ? "\(Self.picture.bytes.count)" : nil))
                #expect(
                    answer.head["Cache-Status"] == "imageproxyd; fwd=uri-miss; fwd-status=200; stored"
                        + (number == 0 ? "" : "; collapsed"))
                #expect(isSame(answer.body, Self.picture.first))
            }
            gate.open()
            let bodies = try answers.map(Self.end)
            // Connections persist after a stream.
            for answer in answers {
                try answer.client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
                let again = try answer.client.answer()
                #expect(again["Cache-Status"]?.hasSuffix("; detail=memory") == true)
                #expect(again["ETag"] != nil)
                #expect(isSame(again.body, Self.picture.bytes))
                answer.client.hangUp()
            }
            return bodies
        }

        #expect(bodies.allSatisfy { isSame($0, Self.picture.bytes) })
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    @Test("A client that reads nothing slows no other client, and gets the rest at its own rate")
    func slowReader() async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        let picture = Picture(first: 100_000, rest: 12 << 20)
        proxy.origin.route("/a.jpg", picture.answer(gate, .chunked))
        let target = proxy.target("/a.jpg")

        let (quick, slow) = try await onThread {
            let slow = try Self.begin(proxy, target)
            let quick = try Self.begin(proxy, target)
            gate.open()
            let first = try Self.end(quick)
            return (first, try Self.end(slow))
        }

        #expect(isSame(quick, picture.bytes))
        #expect(isSame(slow, picture.bytes))
        #expect(proxy.origin.count("/a.jpg") == 1)
    }

    @Test(
        "A picture that may not be shared is sent to those that waited when its head came, and is not stored")
    func unshareable() async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        proxy.origin.route("/a.jpg", Self.picture.answer(gate, control: "private"))
        let target = proxy.target("/a.jpg")
        let bodies = try await onThread {
            let first = try Self.begin(proxy, target)
            #expect(first.head["Cache-Control"]?.hasPrefix("private, ") == true)
            #expect(first.head["Cache-Status"] == "imageproxyd; fwd=uri-miss; fwd-status=200")
            let second = try Self.begin(proxy, target)
            gate.open()
            return [try Self.end(first), try Self.end(second)]
        }
        #expect(bodies.allSatisfy { isSame($0, Self.picture.bytes) })
        #expect(proxy.origin.count("/a.jpg") == 2)
    }

    @Test("A small picture that is received at once is answered as a whole, with an entity tag")
    func small() async throws {
        let proxy = try await Proxy()
        proxy.origin.route("/a.jpg", .body(Picture(first: 20_000, rest: 1).bytes))

        let answer = try await proxy.get(proxy.target("/a.jpg"))

        #expect(answer["ETag"] != nil)
        #expect(answer["Content-Length"] == "20001")
    }

    @Test("HTTP/1.0 gets a stream if its length is known, else a complete answer (RFC 9112 §6.3)")
    func oldClient() async throws {
        let proxy = try await Proxy()
        let (gate, second) = (OriginGate(), OriginGate())
        proxy.origin.route("/known.jpg", Self.picture.answer(gate))
        proxy.origin.route("/unknown.jpg", Self.picture.answer(second, .chunked))
        let targets = ["/known.jpg", "/unknown.jpg"].map { proxy.target($0) }
        let line = "GET %@ HTTP/1.0\r\n\r\n"

        try await onThread {
            let known = try Self.begin(proxy, targets[0], line)
            #expect(known.head["Content-Length"] == "\(Self.picture.bytes.count)")
            gate.open()
            #expect(try isSame(Self.end(known), Self.picture.bytes))
            let client = try RawHTTPClient(unixSocket: proxy.daemon.socketPath)
            try client.send(line.replacing("%@", with: targets[1]))
            // Another client gets the first bytes meanwhile.
            let other = try Self.begin(proxy, targets[1])
            #expect(client.isQuiet(forMilliseconds: 0))
            second.open()
            let collected = try client.answer()
            #expect(collected["Content-Length"] == "\(Self.picture.bytes.count)")
            #expect(collected["ETag"] != nil)
            #expect(isSame(collected.body, Self.picture.bytes))
            #expect(try isSame(Self.end(other), Self.picture.bytes))
        }
    }

    @Test(
        "A conditional or a range request waits for the complete picture",
        arguments: [
            "HEAD %@ HTTP/1.1\r\nHost: a\r\n\r\n", "GET %@ HTTP/1.1\r\nHost: a\r\nRange: bytes=0-9\r\n\r\n",
            "GET %@ HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"x\"\r\n\r\n",
        ])
    func wholeOnly(request: String) async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        proxy.origin.route("/a.jpg", Self.picture.answer(gate, .chunked))
        let target = proxy.target("/a.jpg")

        let answer = try await onThread {
            let client = try RawHTTPClient(unixSocket: proxy.daemon.socketPath)
            try client.send(request.replacing("%@", with: target))
            let other = try Self.begin(proxy, target)
            #expect(client.isQuiet(forMilliseconds: 0))
            gate.open()
            #expect(try isSame(Self.end(other), Self.picture.bytes))
            return try client.answer(isHead: request.hasPrefix("HEAD"))
        }

        #expect(answer["ETag"] != nil)
        #expect(
            answer["Content-Length"] == (request.contains("Range") ? "10" : "\(Self.picture.bytes.count)"))
        #expect(answer.status == (request.contains("Range") ? 206 : 200))
    }

    @Test("Bytes that are not a picture are refused by the first of them, while the origin still sends")
    func noPicture() async throws {
        let proxy = try await Proxy()
        let gate = OriginGate()
        let html =
            Array("<!doctype html><title>not here</title>".utf8) + [UInt8](repeating: 0x20, count: 99_962)
        let head = OriginAnswer.head(200, [("Content-Length", "200000"), ("Content-Type", "image/jpeg")])
        proxy.origin.route("/a.jpg", OriginAnswer([.send(head + html), .wait(gate), .send(html)]))

        let answer = try await proxy.get(proxy.target("/a.jpg"))

        #expect(answer.status == 415)
        #expect(answer.code == "not_an_image")
    }

    @Test("Under a rule that stores another format, the picture is made before it is sent")
    func storedAs() async throws {
        let folder = try TemporaryDirectory()
        let origin = try FakeOrigin()
        let proxy = try await Proxy(
            settings: "\"origins\": [{\"match\": [\"\(origin.url("/*"))\"], \"storeAs\": \"png\"}]",
            in: folder,
            origin: origin)
        let gate = OriginGate()
        let (first, rest) = (Fixtures.photo.prefix(70_000), Fixtures.photo.dropFirst(70_000))
        let head = OriginAnswer.head(200, [("Content-Length", "\(Fixtures.photo.count)")])
        origin.route("/a.jpg", OriginAnswer([.send(head + first), .wait(gate), .send(Array(rest))]))
        let target = proxy.target("/a.jpg")

        async let answer = proxy.get(target)
        await origin.waitForRequests("/a.jpg")
        gate.open()

        #expect(try await answer["Content-Type"] == "image/png")
        #expect(try await answer["ETag"] != nil)
    }
}
