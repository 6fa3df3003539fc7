// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Answering
@testable import ImageProxyd
@testable import Imaging
@testable import Pipeline
@testable import Request
@testable import URLs

@Suite("A malformed target of 8 KB", .serialized)
struct MalformedTargetTests {
    private static let url = "url=http%3A%2F%2Fa.example%2F"
    private static let bytes = 7_900

    /// The queries, by their kind.
    private static let queries: KeyValuePairs<String, String> = [
        "long name": many("u", bytes) + "=1",
        "long name behind the source": url + "a&" + many("u", bytes - 40) + "=1",
        "ampersands": url + "a" + many("&", 4_000),
        "many names": numbered(1_300, "&") { "\($0)=1" },
        "many names behind the source": url + "a&" + numbered(1_250, "&") { "\($0)=1" },
        "repeated parameters": many("url=a&", 1_300),
        "escapes": "url=" + many("%41", 2_600),
        "bad escape at the end": "url=" + many("%41", 2_600) + "%4",
        "no UTF-8 at the end": "url=" + many("%C3%A4", 1_300) + "%FF",
        "escaped dots, then a bad port": "url=http%3A%2F%2Fa%3A0%2F" + many("%252e", 1_500),
        "letters beyond ASCII, then a bad port": "url=http%3A%2F%2Fa%3A0%2F" + many("%C3%A4", 1_300),
        "long host": "url=http%3A%2F%2F" + many("a", bytes - 40),
        "host of many labels": "url=http%3A%2F%2F" + many("a.", 3_900),
        "long scheme": "url=" + many("a", bytes - 40) + "%3A%2F%2Fb",
        "long port": "url=http%3A%2F%2Fa%3A" + many("1", bytes - 40),
        "colons": "url=http%3A%2F%2Fa" + many(":", bytes - 40),
        "user name": "url=http%3A%2F%2F" + many("a", bytes - 40) + "%40b",
        "junk in base64": "url64=" + many("A", bytes - 40) + "!",
        "source forbidden": "url=http%3A%2F%2Fb.example%2F" + many("a/", 3_900),
        "source forbidden, with slashes": "url=http%3A%2F%2Fb.example%2F" + many("/", bytes - 40),
        "nonsense operation": url + "a&transform=" + many("nonsense", 980),
        "commas in a transform": url + "a&transform=" + many(",", bytes - 60),
        "too many operations": url + "a&transform=" + many("blur:2,", 1_100),
        "too many values": url + "a&transform=resize" + many(":1", 3_800),
        "too many words": url + "a&transform=round:2:" + numbered(1_500, "+") { "\($0)" },
        "equals signs": url + "a&transform=resize:" + many("=", 7_000),
        "sizes": url + "a&transform=resize:" + many("x", bytes - 60),
        "points in a ratio": url + "a&transform=blur:2&dpr=" + many(".", bytes - 80),
        "long preset": url + "a&preset=" + many("p", bytes - 60),
        "control characters in a preset": url + "a&preset=" + many("%01", 2_600),
        "long tag": url + "a&tag=" + many("t", bytes - 60),
        "many tags": url + "a&tag=" + numbered(1_500, ",") { "\($0)" },
        "one tag many times": url + "a&tag=" + many("a,", 3_900),
        "long format": url + "a&format=" + many("f", bytes - 60),
        "options": url + "a&options=" + many("o,", 3_900),
        "long number": url + "a&quality=" + many("1", bytes - 60),
        "long name of a file": url + "a&filename=" + many("f", bytes - 60),
    ]

    private static func many(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

    private static func numbered(_ count: Int, _ separator: String, _ text: (Int) -> String) -> String {
        (0..<count).map(text).joined(separator: separator)
    }

    /// Parses the query as the daemon does, and formats the error; returns the processor's time in
    /// nanoseconds, the least of some attempts.
    private static func cost(_ query: String, _ parser: ImageRequestParser) -> (
        nanoseconds: Int, isRefused: Bool
    ) {
        let query = Array(query.utf8)
        var (least, isRefused) = (Int.max, false)
        for _ in 0..<9 {
            let start = processorTime()
            do {
                _ = try parser.parse(query: query) { AcceptClass() }
            } catch {
                isRefused = ProblemDocument(PipelineError(error)).json.count > 0
            }
            least = min(least, processorTime() - start)
        }
        return (least, isRefused)
    }

    private static func processorTime() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// The work of a valid query, times this, is the maximum for a malformed one: much more than any takes,
    /// much less than work that grows with the square of the length.
    private static let margin = 8

    @Test("Parsing a malformed target takes about as long as parsing a valid one")
    func work() throws {
        var policy = RequestPolicy(sources: try SourcePolicy(patterns: ["http://a.example/*"]))
        policy.presets["small"] = Preset(parameters: ["quality": "70"])
        let parser = ImageRequestParser(
            limits: RenderLimits(), formats: FormatsConfiguration(), quality: QualityConfiguration(),
            policy: policy)
        let paths = [Self.many("a%2Fb", 1_560), Self.many("a/", 3_900)]
        let right = paths.map { Self.cost(Self.url + $0, parser) }.max { $0.nanoseconds < $1.nanoseconds }
        let most = Self.margin * (try #require(right).nanoseconds)

        for (kind, query) in Self.queries {
            #expect((3_900...8_192).contains(query.utf8.count), "\(kind)")
            let wrong = Self.cost(query, parser)
            #expect(wrong.isRefused, "\(kind)")
            #expect(wrong.nanoseconds < most, "\(kind): \(wrong.nanoseconds / 1_000) µs of \(most / 1_000)")
        }
    }
}
