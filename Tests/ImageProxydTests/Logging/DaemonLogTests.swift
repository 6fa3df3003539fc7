// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logging
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd
@testable import Observability

@Suite("The daemon's log")
struct DaemonLogTests {
    /// What `log` writes in a format, through a real pipe.
    private func written(
        _ format: LogConfiguration.Format, level: LogConfiguration.Level = .info, _ log: (Logger) -> Void
    ) throws -> String {
        let ends = pipeEnds()
        var configuration = LogConfiguration()
        configuration.format = format
        configuration.level = level
        let handler = DaemonLogHandler(
            label: "test", configuration: configuration, sink: LogSink(descriptor: ends.writing))

        log(Logger(label: "test", factory: { _ in handler }))
        close(ends.writing)

        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(ends.reading, &bytes, bytes.count)
        close(ends.reading)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    @Test("The levels of the settings are those of the logger")
    func levels() {
        #expect(LogConfiguration.Level.allCases.map(\.rawValue) == Logger.Level.allCases.map(\.rawValue))
    }

    @Test("Text: level, message, metadata in the order of their names, the logger")
    func text() throws {
        let line = try written(.text) { logger in
            var logger = logger
            logger[metadataKey: "tier"] = "disk"
            logger.warning("disk is full", metadata: ["bytes": "7"])
        }

        #expect(line.hasSuffix("Z warning disk is full bytes=7 tier=disk logger=test\n"))
    }

    @Test("JSON: one object per message")
    func json() throws {
        let line = try written(.json) { $0.error("a \"b\"\nc", metadata: ["list": ["1", "2"]]) }

        #expect(line.contains("\"level\":\"error\",\"message\":\"a \\\"b\\\"\\nc\""))
        #expect(line.hasSuffix("}\n"))
    }

    @Test("Messages below the level are not written")
    func level() throws {
        #expect(try written(.text, level: .error) { $0.warning("x") }.isEmpty)
        #expect(try written(.text, level: .trace) { $0.trace("x") }.contains(" trace x "))
    }

    @Test("The journal is recognized by the device and inode of standard error (systemd.exec(5))")
    func journalStream() throws {
        let ends = pipeEnds()
        defer {
            close(ends.reading)
            close(ends.writing)
        }
        var facts = stat()
        fstat(ends.writing, &facts)
        let stream = "\(facts.st_dev):\(facts.st_ino)"

        #expect(LogOutput.leadsToJournal(ends.writing, stream))
        #expect(!LogOutput.leadsToJournal(ends.writing, "\(facts.st_dev):1"))
        #expect(!LogOutput.leadsToJournal(ends.writing, nil))
        #expect(!LogOutput.leadsToJournal(ends.writing, "nonsense"))
    }

    @Test("A journal that the settings name must exist; automatic falls back to text")
    func journalMissing() throws {
        var configuration = LogConfiguration()
        #expect(
            try LogOutput(configuration, environment: [:], journalPath: "/nowhere").configuration.format
                == .text)

        configuration.format = .journald
        #expect(throws: LogSink.Failure.self) {
            try LogOutput(configuration, environment: [:], journalPath: "/nowhere")
        }
    }
}
