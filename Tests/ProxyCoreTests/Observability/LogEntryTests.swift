// SPDX-License-Identifier: Apache-2.0

import ProxyCore
import Testing

@testable import ProxyCore

@Suite("Log entries")
struct LogEntryTests {
    private func entry(_ message: String, _ fields: LogEntry.Field...) -> LogEntry {
        LogEntry(milliseconds: 1_709_164_799_987, level: .warning, message: message, fields: fields)
    }

    private func string(_ entry: LogEntry, _ format: LogConfiguration.Format) -> String {
        String(decoding: entry.bytes(as: format), as: UTF8.self)
    }

    @Test("Text: time, level, message, values; values with blanks or quotes are quoted")
    func text() {
        let line = string(
            entry("disk is full", .init("bytes", 7), .init("path", "/a b\"c"), .init("e", "")), .text)

        #expect(line == "2024-02-28T23:59:59.987Z warning disk is full bytes=7 path=\"/a b\\\"c\" e=\"\"\n")
    }

    @Test(
        "No value and no message can begin a line of its own",
        arguments: [.text, .json] as [LogConfiguration.Format])
    func injection(format: LogConfiguration.Format) {
        let line = string(
            entry("a\nb", .init("x", "c\r\nlevel=error \u{1B}[31m"), .init("y", "\u{85}\u{7F}")), format)

        #expect(line.utf8.count { $0 == UInt8(ascii: "\n") } == 1)
        #expect(!line.contains("\u{1B}"))
        #expect(!line.contains("\r"))
        #expect(!line.contains("\u{85}"))
    }

    @Test("JSON: one object per line")
    func json() {
        let line = string(entry("ä \"b\"", .init("status", 200), .init("host", "e.com")), .json)

        #expect(
            line
                == "{\"time\":\"2024-02-28T23:59:59.987Z\",\"level\":\"warning\",\"message\":\"ä \\\"b\\\"\","
                + "\"status\":200,\"host\":\"e.com\"}\n")
    }

    @Test("Journal: fields in capitals, a value with line breaks after its length")
    func journal() {
        let datagram = entry("a\nb", .init("url_host", "e.com"), .init("Odd-näme", 1)).bytes(as: .journald)

        let head = Array("MESSAGE\n".utf8) + [3, 0, 0, 0, 0, 0, 0, 0] + Array("a\nb\n".utf8)
        #expect(datagram.starts(with: head))
        let rest = String(decoding: datagram.dropFirst(head.count), as: UTF8.self)
        #expect(
            rest
                == "PRIORITY=4\nSYSLOG_IDENTIFIER=imageproxyd\nIMAGEPROXYD_URL_HOST=e.com\nIMAGEPROXYD_ODD_N__ME=1\n"
        )
    }

    @Test("A long message is cut, so that the entry fits a datagram")
    func longMessage() {
        let entry = entry(String(repeating: "x", count: 1_000_000))

        #expect(entry.bytes(as: .journald).count <= LogEntry.maxBytes)
    }

    @Test(
        "Times are right at the edges of the calendar",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (1_735_689_599_999, "2024-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func times(milliseconds: Int64, text: String) {
        #expect(timestamp(milliseconds) == text)
    }

    @Test("Automatic settings follow the target of standard error; explicit ones stay")
    func automatic() {
        var settings = LogConfiguration()
        #expect(settings.resolved(underJournal: true).format == .journald)
        #expect(settings.resolved(underJournal: true).access == .misses)
        #expect(settings.resolved(underJournal: false).format == .text)
        #expect(settings.resolved(underJournal: false).access == .all)

        settings.format = .json
        settings.access = .errors
        #expect(settings.resolved(underJournal: true) == settings)
    }

    @Test("The policy decides by status and by the cache's part")
    func policy() {
        typealias Access = LogConfiguration.Access
        let cases: [(Int, Metric.Cache)] = [(200, .memory), (200, .miss), (404, .none), (304, .disk)]

        #expect(cases.map { Access.all.wants(status: $0, cache: $1) } == [true, true, true, true])
        #expect(cases.map { Access.misses.wants(status: $0, cache: $1) } == [false, true, true, false])
        #expect(cases.map { Access.errors.wants(status: $0, cache: $1) } == [false, false, true, false])
        #expect(cases.map { Access.off.wants(status: $0, cache: $1) } == [false, false, false, false])
    }
}
