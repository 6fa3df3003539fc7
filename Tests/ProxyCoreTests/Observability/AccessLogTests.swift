// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import TestSupport
import Testing

@testable import Observability

@Suite("Access log")
struct AccessLogTests {
    /// A pipe whose reading end is read to its end once the writing end is closed.
    private final class Pipe {
        let writer: CInt
        let reader: CInt

        init() {
            (reader, writer) = pipeEnds()
        }

        func closeAndRead() -> [String] {
            close(writer)
            defer { close(reader) }
            var text: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 4_096)
            while case let count = read(reader, &piece, piece.count), count > 0 { text += piece[..<count] }
            return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    private func configuration(_ format: LogConfiguration.Format, records: Int = 64) -> LogConfiguration {
        var configuration = LogConfiguration()
        configuration.format = format
        configuration.accessRecords = records
        return configuration.resolved(underJournal: false)
    }

    private func record(_ path: String, status: Int = 200) -> AccessRecord {
        var record = AccessRecord(
            finishedAt: 5_000_000_000, duration: 45_678, status: status, bytes: 20_480, route: .img,
            cache: .memory)
        record.path = InlineText(path)
        record.client = .v4(0x7F00_0001)
        return record
    }

    @Test("A record's line is the one that the log would write for the entry", arguments: [false, true])
    func fastLines(isJSON: Bool) {
        var miss = AccessRecord.Miss(host: "a=b \\ \"c\" é")
        (miss.queue, miss.fetch, miss.encode, miss.problem) = (1, 22, 333, "upstream_timeout")
        (miss.port, miss.url, miss.upstreamStatus) = (81, "http://a:81/b?c=d", 503)
        (miss.parameter, miss.purge) = ("a b", "tag:a")
        (miss.reason, miss.hop) = ("connection refused", "b.example:443")
        var records = [record(""), record("/img"), record("/a b\"\\\n"), record("/é", status: 404)]
        records[0].client = .v6(0x2001_0DB8_0000_0000, 1)
        records[1].client = .unix
        records[2].requestID = InlineText("id-1")
        records[3].traceID = 0x4bf9_2f35
        records[3].miss = miss
        var line = AccessLine(isJSON: isJSON)

        for (index, record) in records.enumerated() {
            let milliseconds = 1_700_000_000_000 + Int64(index * 507)
            var buffer = LineBuffer(capacity: 0)
            line.append(record, at: milliseconds, to: &buffer)
            let bytes = buffer.withBytes { Array($0) }

            let entry = record.entry(at: milliseconds, as: isJSON ? .json : .text)
            #expect(bytes == entry.bytes(as: isJSON ? .json : .text))
        }
    }

    @Test("A hit is one line, without query")
    func hitLine() throws {
        let pipe = Pipe()
        let log = try AccessLog(
            configuration: configuration(.text), buffers: 1, sink: LogSink(descriptor: pipe.writer))
        var hit = record("")
        let target = Array("/img?url=https://secret.example/a&sig=abc".utf8)
        hit.path = target.withUnsafeBytes { InlineText($0, upTo: UInt8(ascii: "?")) }
        hit.requestID = InlineText("req-1")
        hit.traceID = 0xbf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736

        log.record(hit, buffer: 0)
        log.close()

        let lines = pipe.closeAndRead()
        #expect(lines.count == 1)
        #expect(
            lines[0].hasSuffix(
                " info request method=GET path=/img route=img status=200 bytes=20480 cache=memory duration_us=45 "
                    + "client=127.0.0.1 request_id=req-1 trace_id=0bf92f3577b34da6a3ce929d0e0e4736"))
    }

    @Test(
        "A hit's source is logged as far as log.url says",
        arguments: [
            (LogConfiguration.URLDetail.none, ""), (.host, " url_host=a.example url_port=81"),
            (.path, " url_host=a.example url_port=81 url=http://a.example:81/b"),
            (.full, " url_host=a.example url_port=81 url=\"http://a.example:81/b?c=d\""),
        ])
    func hitSource(detail: LogConfiguration.URLDetail, said: String) {
        var hit = record("/img")
        (hit.hitURL, hit.hitURLDetail) = ("http://a.example:81/b?c=d", detail)
        var line = AccessLine(isJSON: false)
        var buffer = LineBuffer(capacity: 0)

        line.append(hit, at: 0, to: &buffer)

        let bytes = buffer.withBytes { Array($0) }
        #expect(String(decoding: bytes, as: UTF8.self).hasSuffix(" client=127.0.0.1\(said)\n"))
        #expect(bytes == hit.entry(at: 0, as: .text).bytes(as: .text))
    }

    @Test("A miss adds the source's host, the duration of each step, and the problem")
    func missLine() throws {
        let pipe = Pipe()
        let log = try AccessLog(
            configuration: configuration(.json), buffers: 1, sink: LogSink(descriptor: pipe.writer))
        var miss = record("/img", status: 504)
        miss.cache = .miss
        miss.miss = AccessRecord.Miss(host: "origin.example")
        miss.miss?.fetch = 12_000
        miss.miss?.problem = "upstream_timeout"

        log.record(miss, buffer: 0)
        log.close()

        let line = try #require(pipe.closeAndRead().first)
        #expect(
            line.contains(
                "\"url_host\":\"origin.example\",\"fetch_us\":12000,\"problem\":\"upstream_timeout\""))
        #expect(!line.contains("encode_us"))
    }

    @Test("A full buffer drops records and counts them; the other buffers are unaffected")
    func fullBuffer() throws {
        // A full pipe holds the writer fast, so that nothing leaves the buffers meanwhile.
        let pipe = Pipe()
        _ = fcntl(pipe.writer, 1_031 /* F_SETPIPE_SZ */, 4_096)
        let log = try AccessLog(
            configuration: configuration(.text, records: 16), buffers: 2,
            sink: LogSink(descriptor: pipe.writer)
        )
        let reader = Reader(pipe.reader)

        var recorded = 0
        while log.dropped == 0 {
            log.record(record("/full"), buffer: 0)
            recorded += 1
        }
        let dropped = log.dropped
        log.record(record("/other"), buffer: 1)
        reader.start()
        log.close()
        close(pipe.writer)
        let lines = reader.finish()

        #expect(lines.count { $0.contains("path=/full") } == recorded - dropped)
        #expect(lines.count { $0.contains("path=/other") } == 1)
        #expect(log.dropped == dropped)
    }

    @Test("Records of many threads all arrive, each whole")
    func manyThreads() async throws {
        let pipe = Pipe()
        let log = try AccessLog(
            configuration: configuration(.text, records: 65_536), buffers: 4,
            sink: LogSink(descriptor: pipe.writer))
        let reader = Reader(pipe.reader)
        reader.start()

        await withTaskGroup { group in
            for buffer in 0..<4 {
                group.addTask {
                    for _ in 0..<1_000 { log.record(self.record("/img"), buffer: buffer) }
                }
            }
        }
        log.close()
        close(pipe.writer)

        let lines = reader.finish()
        #expect(lines.count == 4_000)
        #expect(lines.allSatisfy { $0.contains(" info request ") && $0.hasSuffix("client=127.0.0.1") })
        #expect(log.dropped == 0)
    }

    @Test("A log whose reader stalls blocks no thread, and tears no line once it is read again")
    func unread() throws {
        let ends = pipeEnds()
        defer { close(ends.reading) }
        let sink = LogSink(descriptor: ends.writing)
        let line = Array((String(repeating: "x", count: 3_000) + "\n").utf8)

        let written = (0..<200).count { _ in sink.write(line) }
        #expect((1..<200).contains(written))

        func received() -> String {
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = read(ends.reading, &bytes, bytes.count)
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
        var text = received()
        #expect(sink.write(Array("after\n".utf8)))
        close(ends.writing)
        text += received()
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.count { $0.count == 3_000 } == written)
        #expect(lines.last == "after")
    }

    @Test("While a reader stalls, only whole lines are lost, also if many are written at once")
    func stalledBatch() throws {
        let ends = pipeEnds()
        defer {
            close(ends.reading)
            close(ends.writing)
        }
        _ = fcntl(ends.writing, 1_031 /* F_SETPIPE_SZ */, 8_192)
        let line = Array((String(repeating: "x", count: 299) + "\n").utf8)
        let batch = Array(repeatElement(line, count: 100).joined())

        let taken = batch.withUnsafeBytes { LogSink(descriptor: ends.writing).take($0) }

        #expect(taken > 0 && taken < batch.count && taken.isMultiple(of: 300))
    }

    @Test("A record wakes the sleeping writer, also if the log stays open")
    func wakesUp() throws {
        let pipe = Pipe()
        let log = try AccessLog(
            configuration: configuration(.text), buffers: 1, sink: LogSink(descriptor: pipe.writer))
        var piece = [UInt8](repeating: 0, count: 4_096)

        // Each read blocks until the writer has written, which it does only when woken.
        for _ in 0..<3 {
            log.record(record("/img"), buffer: 0)
            #expect(read(pipe.reader, &piece, piece.count) > 0)
        }

        log.close()
        #expect(pipe.closeAndRead().isEmpty)
    }

    @Test("A closed pipe costs the records, not the daemon")
    func closedPipe() throws {
        let pipe = Pipe()
        let log = try AccessLog(
            configuration: configuration(.text), buffers: 1, sink: LogSink(descriptor: pipe.writer))
        close(pipe.reader)

        log.record(record("/img"), buffer: 0)
        log.close()

        #expect(log.dropped == 1)
        close(pipe.writer)
    }

    @Test("The journal gets a datagram for each record, over its own protocol")
    func journal() throws {
        let path = "/tmp/imageproxyd-journal-\(getpid()).sock"
        let socket = try DatagramSocket(at: path)
        let log = try AccessLog(
            configuration: configuration(.journald), buffers: 1, sink: LogSink(journal: path))

        log.record(record("/a"), buffer: 0)
        log.record(record("/b"), buffer: 0)
        log.close()

        let datagrams = [socket.receive(), socket.receive()]
        #expect(datagrams[0].hasPrefix("MESSAGE=GET /a 200 memory 20kB 45us\nPRIORITY=6\n"))
        #expect(datagrams[0].contains("\nIMAGEPROXYD_PATH=/a\n"))
        #expect(datagrams[1].contains("\nIMAGEPROXYD_STATUS=200\n"))
    }

    @Test("A missing journal is an error that names the call")
    func noJournal() {
        #expect(throws: LogSink.Failure(call: "connect", code: ENOENT)) {
            try LogSink(journal: "/tmp/imageproxyd-no-such-socket")
        }
    }

    @Test("Inline text holds 64 bytes and repairs invalid UTF-8")
    func inlineText() {
        #expect(InlineText(String(repeating: "a", count: 100)).string.count == 64)
        #expect(InlineText("").isEmpty)
        let broken: [UInt8] = [0x61, 0xFF]
        #expect(broken.withUnsafeBytes { InlineText($0).string } == "a\u{FFFD}")
    }

    @Test("Addresses are written as numbers")
    func clients() {
        #expect("\(AccessRecord.Client.v4(0xC0A8_0001))" == "192.168.0.1")
        #expect("\(AccessRecord.Client.v6(0x2001_0DB8_0000_0000, 1))" == "2001:db8:0:0:0:0:0:1")
        #expect("\(AccessRecord.Client.unix)" == "unix")
    }
}

/// Reads a descriptor to its end on a thread of its own.
private final class Reader: @unchecked Sendable {
    // Safe because the thread alone touches the text until it is joined.
    private var text: [UInt8] = []
    private let descriptor: CInt
    private var thread = pthread_t()

    init(_ descriptor: CInt) {
        self.descriptor = descriptor
    }

    func start() {
        let context = Unmanaged.passRetained(self).toOpaque()
        pthread_create(
            &thread, nil,
            { context in
                let reader = Unmanaged<Reader>.fromOpaque(context!).takeRetainedValue()
                var piece = [UInt8](repeating: 0, count: 65_536)
                while case let count = read(reader.descriptor, &piece, piece.count), count > 0 {
                    reader.text += piece[..<count]
                }
                return nil
            }, context)
    }

    func finish() -> [String] {
        pthread_join(thread, nil)
        close(descriptor)
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}

/// A unix datagram socket bound to a path, as the journal's is.
private final class DatagramSocket {
    private let descriptor: CInt
    private let path: String

    init(at path: String) throws {
        self.path = path
        unlink(path)
        descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafeBytes(of: address) {
            bind(descriptor, $0.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count))
        }
        try #require(bound == 0)
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    func receive() -> String {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &piece, piece.count, 0)
        return String(decoding: piece.prefix(max(0, count)), as: UTF8.self)
    }
}
