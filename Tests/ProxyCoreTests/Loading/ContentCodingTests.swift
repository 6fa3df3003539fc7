// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Freshness
@testable import Loading
@testable import Primitives

@Suite("A body in a content coding that was not requested")
struct ContentCodingTests {
    /// Incompressible bytes, more than one read of them.
    private static let content: [UInt8] = {
        var state: UInt64 = 1
        return (0..<300_000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }()
    private static let gzip = Packed.gzip(content)

    /// A value of `Content-Encoding` and a body in it.
    struct Coded: Sendable, CustomTestStringConvertible {
        let coding: String
        let body: [UInt8]
        let why: String

        var testDescription: String { "\(coding): \(why)" }

        init(_ coding: String, _ body: [UInt8], _ why: String = "as it should be") {
            self.coding = coding
            self.body = body
            self.why = why
        }
    }

    /// How the body's end is declared.
    enum Framing: CaseIterable {
        case length, chunks, single, close

        func answer(_ coded: Coded) -> OriginAnswer {
            let fields = [("Content-Encoding", coded.coding)]
            switch self {
            case .length: return .body(coded.body, fields: fields)
            case .chunks:
                let half = coded.body.count / 2
                return .chunked([Array(coded.body[..<half]), Array(coded.body[half...])], fields: fields)
            // Byte by byte at both ends, where wrappings and checksums are.
            case .single:
                let edges = coded.body.prefix(32).map { [$0] }
                let end = coded.body.suffix(max(0, min(12, coded.body.count - 32))).map { [$0] }
                let middle = Array(coded.body.dropFirst(32).dropLast(12))
                return .chunked(edges + (middle.isEmpty ? [] : [middle]) + end, fields: fields)
            case .close: return .untilClose(coded.body, fields: fields)
            }
        }
    }

    private static func fetched(_ answer: OriginAnswer, maxBytes: ByteCount = .mebibytes(1)) async throws
        -> CollectingReceiver
    {
        let fixture = try LoaderFixture { $0.maxBytes = maxBytes }
        fixture.origin.route("/a", answer)
        let receiver = CollectingReceiver()
        try await fixture.load("/a", into: receiver)
        return receiver
    }

    private static let whole: [Coded] = [
        Coded("gzip", gzip), Coded("x-gzip", gzip), Coded("GZip", gzip),
        Coded(
            "gzip", Packed.gzip(Array(content[..<1_000])) + Packed.gzip(Array(content[1_000...])),
            "two members"),
        Coded("gzip", gzip + Packed.gzip([]), "an empty member behind"),
        Coded("deflate", Packed.deflate(content), "RFC 1950"),
        Coded("deflate", Packed.bareDeflate(content), "RFC 1951"),
        Coded("identity", content), Coded(" , identity ,", content),
        Coded("deflate, gzip", Packed.gzip(Packed.deflate(content)), "the last one applied last"),
        Coded("gzip, identity, x-gzip", Packed.gzip(gzip), "as many as there may be"),
    ]

    @Test("is decoded to the original bytes (RFC 9110 §8.4)", arguments: whole, Framing.allCases)
    func decodes(coded: Coded, framing: Framing) async throws {
        let receiver = try await Self.fetched(framing.answer(coded))

        #expect(receiver.bytes == Self.content)
    }

    private static let damaged: [Coded] = [
        Coded("gzip", Array(gzip[..<200_000]), "cut in the middle"),
        Coded("gzip", Array(gzip.dropLast(1)), "cut in its length"),
        Coded("gzip", Array(gzip.dropLast(8)), "cut behind its last block"),
        Coded("gzip", Array(gzip[..<5]), "cut in its header"),
        Coded("gzip", [], "empty"),
        Coded("gzip", gzip.dropLast(8) + [1, 2, 3, 4] + gzip.suffix(4), "another checksum"),
        Coded("gzip", gzip.dropLast(4) + [1, 2, 3, 4], "another length"),
        Coded("gzip", gzip + [0], "a byte behind it"),
        Coded("gzip", gzip + gzip[..<6], "a member that is cut"),
        Coded("gzip", gzip + Array("garbage".utf8), "garbage behind it"),
        Coded("gzip", content, "no gzip"), Coded("gzip", Packed.deflate(content), "deflate called gzip"),
        Coded("deflate", Array(Packed.deflate(content).dropLast(1)), "cut in its checksum"),
        Coded("deflate", Packed.deflate(content).dropLast(4) + [1, 2, 3, 4], "another checksum"),
        Coded("deflate", Array(Packed.bareDeflate(content)[..<100_000]), "bare, cut in the middle"),
        Coded("deflate", Packed.bareDeflate(content) + [0], "bare, a byte behind it"),
        Coded("deflate", Packed.deflate(content) + [0], "a byte behind it"),
        Coded("deflate", [0x78], "one byte"), Coded("deflate", [0x78, 0xBB, 1, 2, 3, 4], "a dictionary"),
        Coded("deflate", gzip, "gzip called deflate"),
        Coded(
            "deflate, gzip", Packed.gzip(Array(Packed.deflate(content).dropLast(100))),
            "cut before the last coding"),
        Coded("gzip, gzip", gzip, "fewer than said"),
        Coded("br", content, "not requested"), Coded("zstd", content, "not requested"),
        Coded("gzip;q=1", gzip, "none that is known"), Coded("gzip gzip", gzip, "none that is known"),
        Coded("gzip, gzip, gzip", Packed.gzip(Packed.gzip(gzip)), "too many"),
    ]

    @Test(
        "is incomplete if it is truncated, damaged, or continues after its end", arguments: damaged,
        Framing.allCases)
    func refuses(coded: Coded, framing: Framing) async throws {
        await expectFailure(.incomplete) {
            _ = try await Self.fetched(framing.answer(coded))
            return LoadSummary()
        }
    }

    @Test("decodes to at most fetch.maxBytes, also between two codings")
    func bounded() async throws {
        // A megabyte of empty members decodes to nothing, but has to be read completely.
        let empty = Packed.gzip([])
        let nothing = Array(repeatElement(empty, count: 100_000).joined())
        let bombs = [
            Coded("gzip", Packed.gzip(Array(repeating: 0, count: 2 << 20))),
            Coded("gzip, gzip", Packed.gzip(nothing)), Coded("gzip", nothing),
        ]

        for bomb in bombs {
            await #expect(throws: LoadError.tooLarge) {
                try await Self.fetched(.body(bomb.body, fields: [("Content-Encoding", bomb.coding)]))
            }
        }
    }

    @Test(
        "is decoded part by part, and the other fetches have their turns between",
        arguments: [["gzip"], ["deflate", "gzip"]])
    func inParts(codings: [String]) async throws {
        let size = 16 << 20
        let zeros = [UInt8](repeating: 0, count: size)
        let body = codings.count == 1 ? Packed.gzip(zeros) : Packed.gzip(Packed.deflate(zeros))
        let fixture = try LoaderFixture { $0.maxBytes = .mebibytes(16) }
        fixture.origin.route(
            "/a", .body(body, fields: [("Content-Encoding", codings.joined(separator: ","))]))
        let receiver = CollectingReceiver()

        try await fixture.load("/a", into: receiver)

        #expect(receiver.bytes == zeros)
        // One read of libcurl has all of it.
        #expect(body.count < 64 << 10)
        #expect(receiver.drains >= 16)
    }

    @Test("of which more is sent than may wait is decoded while it arrives, and stays whole")
    func muchOfIt() async throws {
        // The first half becomes a thousand times as long, the second one can't be compressed.
        let content =
            [UInt8](repeating: 0, count: 8 << 20) + Array(repeatElement(Self.content, count: 20).joined())
        let fixture = try LoaderFixture { $0.maxBytes = .mebibytes(32) }
        fixture.origin.route(
            "/a", .body(Packed.gzip(content), fields: [("Content-Encoding", "gzip")]))
        let receivers = (0..<4).map { _ in CollectingReceiver() }

        try await withThrowingTaskGroup(of: Void.self) { group in
            for receiver in receivers {
                group.addTask { _ = try await fixture.load("/a", into: receiver) }
            }
            try await group.waitForAll()
        }

        for receiver in receivers { #expect(receiver.bytes == content) }
    }

    @Test("of a 304 belongs to the stored response, whose body is not sent again (RFC 9110 §15.4.5)")
    func notModified() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.route("/a", .status(304, fields: [("Content-Encoding", "gzip"), ("ETag", "\"a\"")]))
        var request = try fixture.request("/a")
        request.ifNoneMatch = "\"a\""
        let receiver = CollectingReceiver()

        _ = try await fixture.loader.load(request, into: receiver)

        #expect(receiver.head?.status == 304)
    }

    @Test("counts the decoded bytes")
    func counts() async throws {
        let fixture = try LoaderFixture()
        let zeros = [UInt8](repeating: 0, count: 100_000)
        fixture.origin.route("/a", .body(Packed.gzip(zeros), fields: [("Content-Encoding", "gzip")]))

        let summary = try await fixture.load("/a")

        #expect(summary.byteCount == zeros.count)
    }

    @Test(
        "is refused if it is a transfer coding, because no TE field was sent (RFC 9112 §7.4)",
        arguments: ["gzip, chunked", "gzip", "chunked, gzip", "xchunked"])
    func transferCoding(coding: String) async throws {
        let fixture = try LoaderFixture()
        let head = OriginAnswer.head(200, [("Transfer-Encoding", coding), ("Connection", "close")])
        let chunk =
            Array("\(String(Self.gzip.count, radix: 16))\r\n".utf8) + Self.gzip + Array("\r\n0\r\n\r\n".utf8)
        fixture.origin.route("/a", OriginAnswer([.send(head + chunk), .close]))

        await expectFailure(.incomplete) { try await fixture.load("/a") }
    }
}
