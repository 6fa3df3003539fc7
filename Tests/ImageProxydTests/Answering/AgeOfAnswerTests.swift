// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Freshness
@testable import Answering
@testable import ImageProxyd
@testable import Pipeline
@testable import Primitives
@testable import Request
@testable import Sharing
@testable import URLs

@Suite("The age of answers, with a real origin and injected clocks")
struct AgeOfAnswerTests {
    /// A proxy that has received its pictures 30 ms before a second ends, fresh for a minute.
    private func proxy() throws -> ClockedProxy {
        let second: Int64 = 1_800_000_000
        let proxy = try ClockedProxy(received: WallTime(milliseconds: second * 1_000 + 970))
        let fields = [("Cache-Control", "max-age=60"), ("Date", HTTPDate(seconds: second).description)]
        proxy.origin.route("/a.jpg", .body(Fixtures.photo, type: "image/jpeg", fields: fields))
        return proxy
    }

    @Test("A second that ends between the origin's response and the answer makes a picture no older")
    func miss() async throws {
        let proxy = try proxy()
        proxy.setTime(50)

        let answer = try await proxy.get("/a.jpg")

        #expect(answer.status == 200 && answer["Age"] == "0")
        #expect(answer["Cache-Status"]?.contains("fwd=uri-miss") == true)
    }

    @Test("A hit is as old as the whole seconds that have passed, wherever a second of the clock ends")
    func hits() async throws {
        let proxy = try proxy()
        // One streams the picture, one finds it on disk, and the next ones are hits in memory.
        for _ in 0..<3 { _ = try await proxy.get("/a.jpg") }

        var seen: [String] = []
        for milliseconds in [50, 900, 999, 1_000, 1_029, 1_999, 2_000, 59_999] as [Int64] {
            proxy.setTime(milliseconds)
            let answer = try await proxy.get("/a.jpg")
            seen.append("\(answer["Age"] ?? ""), \(answer["Cache-Status"] ?? "")")
        }

        let hit = "imageproxyd; hit; ttl="
        #expect(
            seen
                == [(0, 60), (0, 60), (0, 60), (1, 59), (1, 59), (1, 59), (2, 58), (59, 1)].map {
                    "\($0.0), \(hit)\($0.1); detail=memory"
                })
        #expect(proxy.origin.count("/a.jpg") == 1)
        proxy.setTime(60_000)
        #expect(try await proxy.get("/a.jpg")["Cache-Status"]?.contains("hit") == false)
        #expect(proxy.origin.count("/a.jpg") == 2)
    }

    @Test(
        "Facts and sets of URLs are as old as the whole seconds that have passed",
        arguments: ["/info", "/srcset"])
    func texts(route: String) async throws {
        let proxy = try proxy()

        var ages: [String?] = []
        for milliseconds in [50, 950, 1_000] as [Int64] {
            proxy.setTime(milliseconds)
            ages.append(try await proxy.get("/a.jpg", of: route)["Age"])
        }

        #expect(ages == ["0", "0", "1"])
    }

    @Test("What a home sends to another node has its age in whole seconds, and the rest in its initial age")
    func forNodes() async throws {
        let proxy = try proxy()
        let request = ImageRequest(source: try SourceURL(parsing: proxy.origin.url("/a.jpg")), plan: nil)
        _ = try await proxy.get("/a.jpg")
        proxy.setTime(2_700)

        let sent = try #require(try await proxy.pipeline.answerForNode(request, for: nil))

        #expect(sent.age == 2 && sent.record.reuse.initialAge == .milliseconds(700))
    }
}
