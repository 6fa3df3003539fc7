// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Observability

@Suite("A request's line in the journal")
struct JournalSentenceTests {
    private func message(_ change: (inout AccessRecord) -> Void) -> (message: String, fields: String) {
        var record = AccessRecord(
            finishedAt: 0, duration: 12_345_678, status: 502, bytes: 118, route: .img, cache: .miss)
        change(&record)
        let text = String(decoding: record.entry(at: 0, as: .journald).bytes(as: .journald), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return (String(lines[0]), lines.dropFirst().joined(separator: "\n"))
    }

    @Test(
        "The line is a sentence of method, path, status, problem, source, reason, size and time; its values are fields"
    )
    func failure() {
        let (message, fields) = message { record in
            var miss = AccessRecord.Miss(host: "example.org")
            (miss.port, miss.problem, miss.reason) = (81, "upstream_unreachable", "connection refused")
            record.miss = miss
        }

        #expect(
            message == "MESSAGE=GET /img 502 upstream_unreachable example.org:81 connection refused 118B 12ms"
        )
        for field in [
            "IMAGEPROXYD_URL_HOST=example.org", "IMAGEPROXYD_URL_PORT=81", "IMAGEPROXYD_STATUS=502",
            "IMAGEPROXYD_REASON=connection refused", "IMAGEPROXYD_PROBLEM=upstream_unreachable",
        ] {
            #expect(fields.contains(field + "\n"))
        }
    }

    @Test("Without a failure the line has the cache's part, and microseconds if it was fast")
    func hit() {
        let (message, _) = message { record in
            (record.status, record.cache, record.duration) = (200, .memory, 45_678)
        }

        #expect(message == "MESSAGE=GET /img 200 memory 118B 45us")
    }

    @Test(
        "The size is in a unit that a person reads",
        arguments: [(0, "0B"), (9_999, "9999B"), (45_678, "45kB"), (12_345_678, "12MB")])
    func size(bytes: Int, shown: String) {
        let (message, fields) = message { $0.bytes = bytes }

        #expect(message.hasSuffix(" \(shown) 12ms"))
        #expect(fields.contains("IMAGEPROXYD_BYTES=\(bytes)\n"))
    }

    @Test("The line is one line of visible characters, whatever clients and origins put into it")
    func injection() {
        let (message, _) = message { record in
            record.path = InlineText("/a\nPRIORITY=0\u{1B}[31m\u{202E}b\u{85}")
            var miss = AccessRecord.Miss(host: "h")
            (miss.url, miss.hop) = ("http://h/\r\nMESSAGE=x", "b\u{2028}c:1")
            miss.reason = "a?b???"
            record.miss = miss
        }

        #expect(
            message
                == "MESSAGE=GET /a\\u000aPRIORITY=0\\u001b[31m\\u202eb\\u0085 502 miss http://h/\\u000d\\u000aMESSAGE=x "
                + "a?b??? at b\\u2028c:1 118B 12ms")
    }
}
