// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Writes access records as lines of text or JSON straight into bytes: the same lines as `LogEntry` makes, at a tenth of its
/// cost, since a busy daemon writes a hundred thousand a second.
struct AccessLine {
    private let isJSON: Bool
    /// The second that `time` spells.
    private var second = Int64.min
    /// `2026-01-31T23:59:59`.
    private var time: [UInt8] = []

    init(isJSON: Bool) {
        self.isJSON = isJSON
    }

    /// Appends the line of a record that ended at `milliseconds` since 1970.
    mutating func append(_ record: AccessRecord, at milliseconds: Int64, to line: inout [UInt8]) {
        begin(at: milliseconds, &line)
        text("method", record.method, &line)
        if record.path.isEmpty {
            text("path", record.route.path, &line)
        } else {
            unsafe record.path.withBytes { unsafe text("path", $0, &line) }
        }
        text("route", record.route.label, &line)
        number("status", record.status, &line)
        number("bytes", record.bytes, &line)
        text("cache", record.cache.label, &line)
        number("duration_us", Int(record.duration / 1_000), &line)
        client(record.client, &line)
        if !record.requestID.isEmpty {
            unsafe record.requestID.withBytes { unsafe text("request_id", $0, &line) }
        }
        if let miss = record.miss { append(miss, &line) }
        put(isJSON ? "}\n" : "\n", &line)
    }

    private func append(_ miss: AccessRecord.Miss, _ line: inout [UInt8]) {
        text("url_host", miss.host, &line)
        if miss.queue > 0 { number("queue_us", miss.queue, &line) }
        if miss.fetch > 0 { number("fetch_us", miss.fetch, &line) }
        if miss.decode > 0 { number("decode_us", miss.decode, &line) }
        if miss.transform > 0 { number("transform_us", miss.transform, &line) }
        if miss.encode > 0 { number("encode_us", miss.encode, &line) }
        if !miss.problem.isEmpty { text("problem", miss.problem, &line) }
    }

    private mutating func begin(at milliseconds: Int64, _ line: inout [UInt8]) {
        let second = milliseconds / 1_000
        if second != self.second {
            self.second = second
            time = Array(timestamp(milliseconds).utf8.prefix { $0 != UInt8(ascii: ".") })
        }
        if isJSON { put("{\"time\":\"", &line) }
        line.append(contentsOf: time)
        line.append(UInt8(ascii: "."))
        let fraction = Int(milliseconds % 1_000)
        for divisor in [100, 10, 1] { line.append(UInt8(ascii: "0") + UInt8(fraction / divisor % 10)) }
        put(isJSON ? "Z\",\"level\":\"info\",\"message\":\"request\"" : "Z info request", &line)
    }

    // MARK: - Fields

    private func name(_ name: StaticString, _ line: inout [UInt8]) {
        put(isJSON ? ",\"" : " ", &line)
        put(name, &line)
        put(isJSON ? "\":" : "=", &line)
    }

    private func number(_ name: StaticString, _ value: Int, _ line: inout [UInt8]) {
        self.name(name, &line)
        Self.digits(UInt64(max(0, value)), &line)
    }

    private func text(_ name: StaticString, _ value: StaticString, _ line: inout [UInt8]) {
        // Safe because a static string's bytes live for ever.
        unsafe text(
            name, UnsafeRawBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount), &line)
    }

    private func text(_ name: StaticString, _ value: String, _ line: inout [UInt8]) {
        var value = value
        value.withUTF8 { unsafe text(name, UnsafeRawBufferPointer($0), &line) }
    }

    private func text(_ name: StaticString, _ value: UnsafeRawBufferPointer, _ line: inout [UInt8]) {
        self.name(name, &line)
        guard unsafe Self.isPlain(value) else {
            let text = unsafe String(decoding: value, as: UTF8.self)
            line.append(contentsOf: LogEntry.quoted(text).utf8)
            return
        }
        if isJSON { line.append(UInt8(ascii: "\"")) }
        unsafe line.append(contentsOf: value)
        if isJSON { line.append(UInt8(ascii: "\"")) }
    }

    private func client(_ client: AccessRecord.Client, _ line: inout [UInt8]) {
        guard case .v4(let bits) = client else { return text("client", client.description, &line) }
        name("client", &line)
        if isJSON { line.append(UInt8(ascii: "\"")) }
        for shift in [24, 16, 8, 0] as [UInt32] {
            if shift < 24 { line.append(UInt8(ascii: ".")) }
            Self.digits(UInt64(bits >> shift & 255), &line)
        }
        if isJSON { line.append(UInt8(ascii: "\"")) }
    }

    // MARK: - Bytes

    /// Whether a value needs quotes in neither form.
    private static func isPlain(_ value: UnsafeRawBufferPointer) -> Bool {
        unsafe !value.isEmpty
            && value.allSatisfy {
                $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=")
                    && $0 != UInt8(ascii: "\\")
            }
    }

    private static func digits(_ value: UInt64, _ line: inout [UInt8]) {
        var divisor: UInt64 = 1
        while value / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            line.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }

    private func put(_ text: StaticString, _ line: inout [UInt8]) {
        unsafe line.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
