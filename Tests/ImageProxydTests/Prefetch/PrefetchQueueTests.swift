// SPDX-License-Identifier: Apache-2.0

import Primitives
import Request
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Turns of prefetch orders")
struct PrefetchQueueTests {
    private static func body(_ urls: [String], isOpen: Bool = false) throws -> PrefetchBody {
        try PrefetchBody(["urls": .strings(urls), "more": .bool(isOpen)])
    }

    private static func queue(_ change: (inout PrefetchConfiguration) -> Void = { _ in }) -> PrefetchQueue {
        var configuration = PrefetchConfiguration()
        change(&configuration)
        return PrefetchQueue(configuration: configuration)
    }

    private static func urls(_ host: String, _ count: Int) -> [String] {
        (0..<count).map { "https://\(host)/\($0).jpg" }
    }

    private static func add(
        _ urls: [String], as token: String, to queue: inout PrefetchQueue, rate: Double? = nil,
        isOpen: Bool = false
    ) throws {
        try queue.add(
            try body(urls, isOpen: isOpen), PrefetchPlan(rate: rate), token: token, at: .zero, seconds: 5)
    }

    private static func next(_ queue: inout PrefetchQueue, at time: Duration = .zero) -> PrefetchQueue.Job? {
        queue.next(at: time, seconds: 7)
    }

    @Test("Orders take turns, so that one with thousands of sources does not delay one with few")
    func turns() throws {
        var queue = Self.queue { $0.maxConcurrent = 1 }
        try Self.add(Self.urls("a.example", 5_000), as: "a", to: &queue)
        try Self.add(Self.urls("b.example", 2), as: "b", to: &queue)

        var tokens = ""
        for _ in 1...6 {
            let job = try #require(Self.next(&queue))
            tokens += job.token
            queue.end(job)
        }

        #expect(tokens == "ababaa")
    }

    @Test("One host gets one place less than there are; another host has the last one")
    func hosts() throws {
        var queue = Self.queue()
        try Self.add(Self.urls("slow.example", 9), as: "a", to: &queue)

        let first = [Self.next(&queue), Self.next(&queue), Self.next(&queue)].compactMap(\.?.url)
        try Self.add(Self.urls("other.example", 9), as: "b", to: &queue)
        let last = Self.next(&queue)

        #expect(first.count == 2 && last?.host == "other.example")
        #expect(Self.next(&queue) == nil)
    }

    @Test("Hosts of one order take turns")
    func hostsOfOrder() throws {
        var queue = Self.queue { $0.maxConcurrent = 1 }
        try Self.add(
            Self.urls("a.example", 3) + Self.urls("b.example:8080", 2), as: "a", to: &queue)

        var urls: [String] = []
        while let job = Self.next(&queue) {
            urls.append(String(job.url.dropFirst("https://".count)))
            queue.end(job)
        }

        #expect(
            urls == [
                "a.example/0.jpg", "b.example:8080/0.jpg", "a.example/1.jpg", "b.example:8080/1.jpg",
                "a.example/2.jpg",
            ])
    }

    @Test("A rate spreads an order's images, and gives the time when the next may begin")
    func rate() throws {
        var queue = Self.queue()
        try Self.add(Self.urls("a.example", 3), as: "a", to: &queue, rate: 2)

        let first = Self.next(&queue)
        let early = Self.next(&queue, at: .milliseconds(499))

        #expect(first != nil && early == nil)
        #expect(queue.nextTime(after: .zero) == .milliseconds(500))
        #expect(Self.next(&queue, at: .milliseconds(500)) != nil)
    }

    @Test("An order that waits for a place alone is not a matter of time: nothing is asked again and again")
    func blocked() throws {
        var queue = Self.queue { $0.maxConcurrent = 1 }
        try Self.add(Self.urls("a.example", 3), as: "a", to: &queue, rate: 2)

        #expect(Self.next(&queue) != nil)
        #expect(Self.next(&queue, at: .seconds(1)) == nil && queue.nextTime(after: .seconds(1)) == nil)
    }

    @Test("What waits is bounded in bytes, which are given back as sources are taken, and at a cancellation")
    func bytes() throws {
        var queue = Self.queue { $0.queueBytes = .kibibytes(64) }
        try Self.add(Self.urls("a.example", 300), as: "a", to: &queue)
        let before = queue.bytes

        #expect(throws: PrefetchQueue.Refusal.full) {
            try Self.add(Self.urls("b.example", 300), as: "b", to: &queue)
        }
        #expect(queue.bytes == before && queue.progress(of: "b") == nil && queue.waitingCount == 300)
        let job = try #require(Self.next(&queue))
        #expect(queue.bytes < before)
        #expect(queue.remove("a", as: .cancelled, seconds: 9)?.state == .cancelled)
        #expect(queue.bytes == 0 && queue.waitingCount == 0)
        // It holds its place until it has ended.
        queue.end(job)
        #expect(Self.next(&queue) == nil)
    }

    @Test("Orders are bounded in number")
    func orders() throws {
        var queue = Self.queue { $0.maxOrders = 2 }
        try Self.add(["https://a.example/1"], as: "a", to: &queue)
        try Self.add(["https://a.example/2"], as: "b", to: &queue)

        #expect(throws: PrefetchQueue.Refusal.tooManyOrders) {
            try Self.add(["https://a.example/3"], as: "c", to: &queue)
        }
    }

    @Test("An order ends when its last source has, and an open one when no more come for a minute")
    func ends() throws {
        var queue = Self.queue()
        try Self.add(["https://a.example/1"], as: "a", to: &queue)
        try Self.add(["https://b.example/1"], as: "b", to: &queue, isOpen: true)
        let jobs = [try #require(Self.next(&queue)), try #require(Self.next(&queue))]

        #expect(queue.takeEnded(at: .zero, seconds: 9).isEmpty)
        for job in jobs { queue.end(job) }
        let done = queue.takeEnded(at: .seconds(1), seconds: 9)
        try queue.append(try Self.body(["https://b.example/2"], isOpen: true), to: "b", at: .seconds(30))
        queue.end(try #require(Self.next(&queue, at: .seconds(30))))

        #expect(done.map(\.token) == ["a"] && done.map(\.state) == [.done])
        #expect(done.first?.started == 7 && done.first?.ended == 9)
        #expect(queue.nextTime(after: .seconds(30)) == .seconds(90))
        #expect(queue.takeEnded(at: .seconds(89), seconds: 9).isEmpty)
        let last = queue.takeEnded(at: .seconds(90), seconds: 99)
        #expect(last.map(\.state) == [.interrupted] && last.first?.urls == 2)
        #expect(throws: PrefetchQueue.Refusal.closed) {
            try queue.append(try Self.body([]), to: "b", at: .seconds(91))
        }
    }

    // MARK: - Contents

    private static func problem(_ text: String) -> String? {
        do throws(PrefetchBody.Problem) {
            _ = try PrefetchBody(Array(text.utf8))
            return nil
        } catch {
            return error.text
        }
    }

    @Test("Transforms, presets and what clients accept make the images of a source")
    func plan() throws {
        let body = try PrefetchBody(
            Array(
                #"{"urls": ["https://a.example/1"], "transforms": ["resize:20x"], "presets": ["thumb"], "quality": 70, "accept": ["image/avif", "image/webp"], "rate": 2.5, "more": true}"#
                    .utf8))
        let plan = try #require(body.plan)

        #expect(body.urls == ["https://a.example/1"] && body.isOpen && plan.rate == 2.5)
        #expect(plan.variants.map(\.accept) == ["image/avif", "image/webp", "image/avif", "image/webp"])
        #expect(plan.variants[0].parameters.map(\.name) == ["transform", "quality"])
        #expect(plan.variants[3].parameters.map(\.value) == ["thumb", "70"])
    }

    @Test(
        "A wrong content is refused with what is wrong",
        arguments: [
            ("[]", "must be an object"), (#"{"urls": "x"}"#, "'urls' must be a list of texts"),
            (#"{"urls": [1]}"#, "has a number"), (#"{"urls": [], "rate": 0}"#, "'rate' must be"),
            (#"{"urls": [], "url": "x"}"#, "'url' is not taken here"),
            (#"{"urls": [], "options": "retry-failed"}"#, "'options' is not taken here"),
            (#"{"urls": [], "more": 1}"#, "'more' must be true or false"),
            (#"{"urls": [], "quality": []}"#, "'quality' must be a text or a number"),
            (#"{"urls": [}"#, "line 1, column 11"),
            (String(repeating: "[", count: 100_000), "nested deeper than"),
            (
                #"{"transforms": [\#(Array(repeating: "\"flip\"", count: 65).joined(separator: ","))]}"#,
                "at most 64"
            ),
        ])
    func refusals(content: String, reason: String) {
        #expect(Self.problem(content)?.contains(reason) == true, "\(Self.problem(content) ?? "none")")
    }

    // MARK: - Progress

    @Test("Reasons are bounded in number and bytes, and survive being written and read")
    func reasons() throws {
        var progress = PrefetchProgress(token: PrefetchProgress.newToken())
        let long = String(repeating: "é", count: 5_000)
        for number in 0..<1_000 {
            progress.fail("code\(number % 40)", long, at: "https://a.example/\(number)" + long)
        }

        #expect(progress.failed == 1_000 && progress.reasons.count == PrefetchProgress.maxReasons)
        #expect(progress.reasons.reduce(0) { $0 + $1.count } == 1_000)
        #expect(progress.reasons.last?.code == "other" && progress.json.compact.utf8.count < 12_000)
        #expect(PrefetchProgress(progress.json) == progress)
    }

    @Test("A file of orders stays within its bound, whatever they are")
    func history() throws {
        let orders = (0..<1_000).map { _ in
            var progress = PrefetchProgress(token: PrefetchProgress.newToken())
            for number in 0..<12 {
                progress.fail("code\(number)", String(repeating: "x", count: 300), at: "y")
            }
            return progress
        }

        let content = PrefetchHistory.content(running: [], ended: orders)

        #expect(content.count <= PrefetchHistory.maxBytes && content.count > PrefetchHistory.maxBytes / 2)
        var parser = JSONParser(content)
        #expect(try parser.parse()["orders"]?.inside(["0", "token"]) == .string(orders[0].token))
    }
}
