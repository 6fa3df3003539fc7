// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Freshness
@testable import Loading
@testable import Primitives

@Suite("A hostile origin")
struct HostileOriginTests {
    @Test(
        "sends a gzip bomb, which ends at the limit of bytes, or earlier if it is malformed",
        arguments: [("gzip", true), ("x-gzip", true), ("gzip, gzip", false), ("deflate", false)])
    func bomb(coding: String, isOne: Bool) async throws {
        let fixture = try LoaderFixture { $0.maxBytes = .mebibytes(1) }
        // 77 MB of zeros in two of the four codings; in the others it is malformed, and no image either.
        fixture.origin.route(
            "/bomb", .body(GzipBomb.bytes(runs: 300_000), fields: [("Content-Encoding", coding)]))
        let receiver = CollectingReceiver()

        let error = await #expect(throws: LoadError.self) { try await fixture.load("/bomb", into: receiver) }

        #expect(error?.outcome == (isOne ? .tooLarge : .incomplete))
        #expect(receiver.bytes.count <= 1 << 20)
    }

    @Test("sends more than fetch.maxBytes without declaring them, and is stopped while it sends")
    func endlessBody() async throws {
        let fixture = try LoaderFixture { $0.maxBytes = .kibibytes(64) }
        let head = OriginAnswer.head(200, [("Connection", "close")])
        let piece = OriginAnswer.Step.send([UInt8](repeating: 1, count: 1 << 16))
        fixture.origin.route(
            "/endless", OriginAnswer([.send(head)] + Array(repeating: piece, count: 512) + [.stall]))
        let receiver = CollectingReceiver()

        await #expect(throws: LoadError.tooLarge) { try await fixture.load("/endless", into: receiver) }

        #expect(receiver.bytes.count <= 1 << 16)
        await fixture.origin.waitForDepartures("/endless")
    }

    @Test("declares more than fetch.maxBytes, and no body is read")
    func announcedSize() async throws {
        let fixture = try LoaderFixture { $0.maxBytes = .kibibytes(64) }
        fixture.origin.route("/big", .stalling(after: [1], declaring: 65_537))

        await #expect(throws: LoadError.tooLarge) { try await fixture.load("/big") }

        await fixture.origin.waitForDepartures("/big")
    }

    @Test(
        "declares a wrong length: a short body fails, a long one is cut and its connection is not reused"
    )
    func lyingLength() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/short", .truncated([1, 2, 3], declaring: 10))
        let head = OriginAnswer.head(200, [("Content-Length", "3")])
        let smuggled = Array("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nX".utf8)
        fixture.origin.route("/long", OriginAnswer([.send(head + [1, 2, 3] + smuggled)]))
        fixture.origin.route("/next", .body([9]))
        let long = CollectingReceiver(), next = CollectingReceiver()

        await expectFailure(.incomplete) { try await fixture.load("/short") }
        try await fixture.load("/long", into: long)
        try await fixture.load("/next", into: next)

        #expect(long.bytes == [1, 2, 3])
        #expect(next.bytes == [9])
    }

    @Test(
        "frames its body in an invalid way",
        arguments: [
            [("Content-Length", "5"), ("Content-Length", "6")], [("Content-Length", "-1")],
            [("Content-Length", "1x")],
            [("Content-Length", "99999999999999999999")], [("Content-Length ", "5")],
            [("Transfer-Encoding\t", "chunked")], [("Transfer-Encoding", "identity")],
            [("Transfer-Encoding", "identity"), ("Content-Length", "9")], [("Transfer-Encoding", "")],
            [("Transfer-Encoding", "chunked, identity")], [("Transfer-Encoding", "chunked, chunked")],
            [("Transfer-Encoding", "\r\n chunked")],
        ])
    func framing(fields: [(String, String)]) async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route(
            "/a", OriginAnswer([.send(OriginAnswer.head(200, fields) + [1, 2, 3, 4, 5]), .close]))

        _ = await #expect(throws: LoadError.self) { try await fixture.load("/a") }
    }

    @Test("sends an endless head: many fields, one long field, interim responses, or trailers")
    func endlessHead() async throws {
        let fixture = try LoaderFixture { $0.maxHeadBytes = .kibibytes(16) }
        let start = OriginAnswer.Step.send(Array("HTTP/1.1 200 OK\r\n".utf8))
        let fields = OriginAnswer.Step.send(Array(String(repeating: "X-A: b\r\n", count: 1_000).utf8))
        let long = OriginAnswer.Step.send([UInt8](repeating: 0x61, count: 1 << 16))
        let interim = OriginAnswer.Step.send(
            Array(String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 100).utf8))
        let body = OriginAnswer.Step.send(
            OriginAnswer.head(200, [("Transfer-Encoding", "chunked")]) + Array("1\r\nA\r\n0\r\n".utf8))
        fixture.origin.route(
            "/fields", OriginAnswer([start] + Array(repeating: fields, count: 64) + [.stall]))
        fixture.origin.route("/long", OriginAnswer([start] + Array(repeating: long, count: 8) + [.stall]))
        fixture.origin.route("/interim", OriginAnswer(Array(repeating: interim, count: 64) + [.stall]))
        fixture.origin.route(
            "/trailers", OriginAnswer([body] + Array(repeating: fields, count: 64) + [.stall]))

        for path in ["/fields", "/long", "/interim", "/trailers"] {
            let error = await #expect(throws: LoadError.self, "\(path)") { try await fixture.load(path) }
            #expect(error?.outcome == .incomplete || error?.outcome == .unreachable, "\(path)")
            await fixture.origin.waitForDepartures(path)
        }
    }

    @Test("sends endless framing without a body: all bytes of the connection are counted")
    func endlessFraming() async throws {
        let fixture = try LoaderFixture {
            $0.maxBytes = .kibibytes(64)
            $0.maxHeadBytes = .kibibytes(16)
            $0.lowSpeedTime = .seconds(20)
        }
        let head = OriginAnswer.head(200, [("Transfer-Encoding", "chunked")])
        let extensions = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 16)
        let piece = OriginAnswer.Step.send(extensions)
        let chunks = OriginAnswer.Step.send(
            Array(String(repeating: "1;\(String(repeating: "b", count: 1_000))\r\nA\r\n", count: 64).utf8))
        fixture.origin.route(
            "/one",
            OriginAnswer([.send(head + Array("1;".utf8))] + Array(repeating: piece, count: 64) + [.stall]))
        fixture.origin.route(
            "/many", OriginAnswer([.send(head)] + Array(repeating: chunks, count: 64) + [.stall]))

        for path in ["/one", "/many"] {
            await #expect(throws: LoadError.tooLarge, "\(path)") { try await fixture.load(path) }
            await fixture.origin.waitForDepartures(path)
        }
    }

    @Test(
        "trickles the unneeded body of an error, and the fetch does not wait for it",
        arguments: [404, 500, 302])
    func drippingError(status: Int) async throws {
        let fixture = try LoaderFixture { $0.maxRedirects = 0 }
        let head = OriginAnswer.head(status, [("Content-Length", "1000"), ("Location", "/b")])
        fixture.origin.route(
            "/a",
            OriginAnswer([
                .send(head), .trickle([UInt8](repeating: 1, count: 1_000), piece: 1, everyMilliseconds: 20),
            ]))

        _ = await #expect(throws: LoadError.self) { try await fixture.load("/a") }
        await fixture.origin.wait { $0.closedConnections == 1 || $0.completions["/a"] == 1 }

        #expect(fixture.origin.log.completions["/a"] == nil)
    }

    @Test("begins its head with a folded line, after responses with fields (RFC 9112 §2.2)")
    func foldedFirst() async throws {
        let fixture = try LoaderFixture()
        let long = String(repeating: "q", count: 400)
        fixture.origin.route("/plain", .body([9], fields: [("X-Long", long)]))
        let folded = "HTTP/1.1 200 Fake\r\n folded: \(long)\r\nContent-Length: 1\r\n\r\nA"
        fixture.origin.route("/folded", OriginAnswer([.send(Array(folded.utf8)), .close]))

        // libcurl may refuse such a head or ignore the line. It must not append to a field of another
        // response: that memory is freed, and the process would crash sooner or later.
        for _ in 0..<64 {
            let receiver = CollectingReceiver()
            try await fixture.load("/plain", into: receiver)
            #expect(receiver.bytes == [9] && receiver.head?.values(of: "x-long") == [long])
            // Ignored: whether it is refused; both are right.
            _ = try? await fixture.load("/folded")
        }
    }

    /// A body of `A`s, each of which is a chunk.
    private static func chunksOfOne(count: Int) -> OriginAnswer {
        let chunks = Array(String(repeating: "1\r\nA\r\n", count: count).utf8)
        return OriginAnswer([
            .send(OriginAnswer.head(200, [("Transfer-Encoding", "chunked")]) + chunks),
            .send(Array("0\r\n\r\n".utf8)),
        ])
    }

    @Test("sends chunks of one byte, which are delivered in pages")
    func smallChunks() async throws {
        let fixture = try LoaderFixture()
        let count = 20_000
        fixture.origin.route("/small-chunks", Self.chunksOfOne(count: count))
        let receiver = CollectingReceiver()

        try await fixture.load("/small-chunks", into: receiver)

        #expect(receiver.bytes == [UInt8](repeating: UInt8(ascii: "A"), count: count))
        // One call for each read of the socket; without collecting there would be one for each chunk.
        #expect(receiver.pieces < count / 10)
    }

    @Test("sends very many chunks at once, which are received by turns: other fetches have theirs in between")
    func manyChunks() async throws {
        let fixture = try LoaderFixture()
        let count = 500_000
        fixture.origin.route("/chunks", Self.chunksOfOne(count: count))
        let receiver = CollectingReceiver()

        try await fixture.load("/chunks", into: receiver)

        #expect(receiver.bytes.count == count)
        // A turn has one buffer of the connection at most, of which there are 45.
        #expect(receiver.drains > 20)
    }

    @Test(
        "sends a long body, whose pieces are collected: all bytes arrive, in their order",
        arguments: [65_535, 65_536, 65_537, 196_608, 196_609, 1_000_003])
    func longBody(count: Int) async throws {
        let fixture = try LoaderFixture()
        let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        fixture.origin.route("/long", .body(body))
        let receiver = CollectingReceiver()

        try await fixture.load("/long", into: receiver)

        #expect(receiver.bytes == body)
    }

    @Test("pauses within a long body, and what it has sent is not held back")
    func pausedBody() async throws {
        let fixture = try LoaderFixture()
        let sent = [UInt8](repeating: 7, count: 150_001)
        fixture.origin.route("/paused", .stalling(after: sent, declaring: 1_000_000))
        let receiver = CollectingReceiver()
        let load = Task { try await fixture.load("/paused", into: receiver) }

        await receiver.received.wait(until: { $0.bytes.count == sent.count })

        load.cancel()
        await #expect(throws: LoadError.self) { try await load.value }
        #expect(receiver.bytes == sent)
    }

    @Test("sends a small invalid piece, and the fetch does not wait for more")
    func smallInvalidPiece() async throws {
        let fixture = try LoaderFixture()
        let fields = [("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")]
        let answer = OriginAnswer.head(200, fields) + Array("5\r\nplain\r\n".utf8)
        fixture.origin.route("/a", OriginAnswer([.send(answer), .stall]))

        await expectFailure(.incomplete) { try await fixture.load("/a") }
        await fixture.origin.waitForDepartures("/a")
    }

    @Test("switches protocols without a request for it, and the fetch does not wait (RFC 9110 §15.2.2)")
    func switchesProtocols() async throws {
        let fixture = try LoaderFixture()
        let fields = [("Upgrade", "h2c"), ("Connection", "upgrade")]
        fixture.origin.route(
            "/a", OriginAnswer([.send(OriginAnswer.head(101, fields) + [0x89, 0x50]), .stall]))

        await expectFailure(.incomplete) { try await fixture.load("/a") }
        await fixture.origin.waitForDepartures("/a")
    }

    @Test("speaks another protocol than HTTP, or a version before 1.0")
    func otherProtocol() async throws {
        let fixture = try LoaderFixture { $0.retries = 0 }
        fixture.origin.route("/ssh", OriginAnswer([.send(Array("SSH-2.0-OpenSSH_9.2\r\n".utf8)), .close]))
        fixture.origin.route("/old", OriginAnswer([.send([0x89, 0x50, 0x4E, 0x47]), .close]))

        for path in ["/ssh", "/old"] {
            let error = await #expect(throws: LoadError.self) { try await fixture.load(path) }
            #expect(error?.outcome == .unreachable || error?.outcome == .incomplete)
        }
    }

    @Test("sends control characters in a field, which are not passed on")
    func controlCharacters() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/a", .body([1], fields: [("ETag", "\"a\u{1}b\""), ("X-B", "c\rInjected: d")]))
        let receiver = CollectingReceiver()

        // libcurl may refuse the head, or deliver the field as one value: never as another field.
        _ = try? await fixture.load("/a", into: receiver)

        #expect(receiver.head?.values(of: "injected") ?? [] == [])
    }
}
