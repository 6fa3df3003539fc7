// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Loading
@testable import Primitives

@Suite("A request that has passed this daemon before")
struct LoopGuardTests {
    @Test(
        "is recognized by CDN-Loop (RFC 8586 §2) or Via (RFC 9110 §7.6.3)",
        arguments: [
            (["imageproxyd"], []), (["other.example, imageproxyd"], []),
            (["a", "b , ImageProxyd ; v=1"], []),
            ([], ["1.1 imageproxyd"]), ([], ["1.0 fred, HTTP/1.1 imageproxyd (a comment)"]),
            ([], ["2\timageproxyd"]),
            // U+0600 joins what follows it to one Character.
            (["a\u{600}, imageproxyd"], []), ([], ["1.1 a\u{600}, 1.1 imageproxyd"]),
        ] as [([String], [String])])
    func known(cdnLoop: [String], via: [String]) {
        #expect(LoopGuard(name: "imageproxyd").hasPassed(cdnLoop: cdnLoop, via: via))
    }

    @Test(
        "is not one with a similar name",
        arguments: [
            ([], []), ([""], [""]), (["imageproxyd2"], []), (["a; x=imageproxyd"], []),
            ([], ["imageproxyd 1.1"]),
            ([], ["1.1 a (imageproxyd)"]), ([], ["1.1 notimageproxyd"]), (["a"], ["1.1 b"]),
        ] as [([String], [String])])
    func unknown(cdnLoop: [String], via: [String]) {
        #expect(!LoopGuard(name: "imageproxyd").hasPassed(cdnLoop: cdnLoop, via: via))
    }
}

extension LoopGuardTests {
    @Test("also is one with more than 1,024 bytes in either field")
    func longWay() {
        let guardian = LoopGuard(name: "imageproxyd")
        let (short, long) = (String(repeating: "a,", count: 512), String(repeating: "a,", count: 513))
        #expect(!guardian.hasPassed(cdnLoop: [short], via: [short]))
        #expect(guardian.hasPassed(cdnLoop: [long], via: []))
        #expect(guardian.hasPassed(cdnLoop: [], via: [short, "b"]))
    }
}

@Suite("The fields of a request to an origin")
struct RequestFieldTests {
    @Test("name the daemon to recognize loops (RFC 8586, RFC 9110 §7.6.3), and are otherwise constant")
    func constant() async throws {
        let fixture = try LoaderFixture { $0.via = "edge-1" }
        fixture.origin.route("/a", .body([1]))

        try await fixture.load("/a")

        let request = try #require(fixture.origin.log.requests.first)
        #expect(request["via"] == "1.1 edge-1")
        #expect(request["cdn-loop"] == "edge-1")
        #expect(
            request.fields.map(\.name).sorted()
                == ["accept", "accept-encoding", "cdn-loop", "host", "user-agent", "via"])
    }

    @Test(
        "can't be configured if they authenticate or frame the message",
        arguments: ["Via", "CDN-Loop", "Host"])
    func reserved(name: String) {
        #expect(throws: CurlLoader.SetupError.invalidField(name)) {
            try LoaderFixture { $0.headers = [name: "x"] }
        }
    }
}
