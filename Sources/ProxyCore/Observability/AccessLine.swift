// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Writes access records as lines of text or JSON directly into bytes: the same lines as `LogEntry` writes,
/// at a tenth of its cost, since a busy daemon writes a hundred thousand a second.
struct AccessLine {
    private let isJSON: Bool
    /// The second that `time` contains.
    private var second = Int64.min
    /// `2026-01-31T23:59:59.`, with what precedes it.
    private var time: [UInt8] = []
    /// Labels' values by their number: deriving one from a case's name costs more than all the rest of a
    /// line.
    private let routes = Metric.Route.allCases.map { Array($0.label.utf8) }
    private let caches = Metric.Cache.allCases.map { Array($0.label.utf8) }
    private let paths = Metric.Route.allCases.map { Array($0.path.utf8) }

    init(isJSON: Bool) {
        self.isJSON = isJSON
    }

    /// Appends the line of a record that ended at `milliseconds` since 1970.
    mutating func append(_ record: AccessRecord, at milliseconds: Int64, to line: inout LineBuffer) {
        begin(at: milliseconds, &line)
        text("method", record.method, &line)
        if record.path.isEmpty {
            plain("path", paths[record.route.rawValue], &line)
        } else {
            unsafe record.path.withBytes { unsafe text("path", $0, &line) }
        }
        plain("route", routes[record.route.rawValue], &line)
        number("status", record.status, &line)
        number("bytes", record.bytes, &line)
        plain("cache", caches[record.cache.rawValue], &line)
        number("duration_us", Int(record.duration / 1_000), &line)
        client(record.client, &line)
        if !record.requestID.isEmpty {
            unsafe record.requestID.withBytes { unsafe text("request_id", $0, &line) }
        }
        if let trace = record.traceID { text("trace_id", AccessRecord.digits(ofTrace: trace), &line) }
        if let additional = record.additional { append(additional, &line) }
        line.put(isJSON ? "}\n" : "\n")
    }

    private func append(_ miss: AccessRecord.Miss, _ line: inout LineBuffer) {
        for field in miss.fields {
            switch field.value {
            case .number(let number): self.number(field.name, number, &line)
            case .text(let text): self.text(field.name, text, &line)
            }
        }
    }

    private mutating func begin(at milliseconds: Int64, _ line: inout LineBuffer) {
        let second = milliseconds / 1_000
        if second != self.second {
            self.second = second
            let text = timestamp(milliseconds).utf8.prefix { $0 != UInt8(ascii: ".") }
            time = (isJSON ? Array("{\"time\":\"".utf8) : []) + text + [UInt8(ascii: ".")]
        }
        line.put(time)
        let fraction = UInt64(milliseconds % 1_000)
        if fraction < 100 { line.put(UInt8(ascii: "0")) }
        if fraction < 10 { line.put(UInt8(ascii: "0")) }
        line.put(fraction)
        line.put(isJSON ? "Z\",\"level\":\"info\",\"message\":\"request\"" : "Z info request")
    }

    // MARK: - Fields

    private func name(_ name: some LineText, _ line: inout LineBuffer) {
        line.put(isJSON ? ",\"" : " ")
        name.put(to: &line)
        line.put(isJSON ? "\":" : "=")
    }

    private func number(_ name: some LineText, _ value: Int, _ line: inout LineBuffer) {
        self.name(name, &line)
        line.put(UInt64(max(0, value)))
    }

    private func text(_ name: some LineText, _ value: StaticString, _ line: inout LineBuffer) {
        // Safe because a static string's bytes are never freed.
        unsafe text(
            name, UnsafeRawBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount), &line)
    }

    private func text(_ name: some LineText, _ value: String, _ line: inout LineBuffer) {
        var value = value
        value.withUTF8 { unsafe text(name, UnsafeRawBufferPointer($0), &line) }
    }

    private func text(_ name: some LineText, _ value: UnsafeRawBufferPointer, _ line: inout LineBuffer) {
        guard unsafe Self.isPlain(value) else {
            self.name(name, &line)
            let text = unsafe String(decoding: value, as: UTF8.self)
            return line.put(Array(text.quotedJSON.utf8))
        }
        begin(name, &line)
        unsafe line.put(value)
        end(&line)
    }

    /// A generated value, which needs no check.
    private func plain(_ name: some LineText, _ value: [UInt8], _ line: inout LineBuffer) {
        begin(name, &line)
        line.put(value)
        end(&line)
    }

    private func client(_ client: AccessRecord.Client, _ line: inout LineBuffer) {
        guard case .v4(let bits) = client else { return text("client", client.description, &line) }
        begin("client", &line)
        line.put(UInt64(bits >> 24))
        line.put(UInt8(ascii: "."))
        line.put(UInt64(bits >> 16 & 255))
        line.put(UInt8(ascii: "."))
        line.put(UInt64(bits >> 8 & 255))
        line.put(UInt8(ascii: "."))
        line.put(UInt64(bits & 255))
        end(&line)
    }

    private func begin(_ name: some LineText, _ line: inout LineBuffer) {
        self.name(name, &line)
        if isJSON { line.put(UInt8(ascii: "\"")) }
    }

    private func end(_ line: inout LineBuffer) {
        if isJSON { line.put(UInt8(ascii: "\"")) }
    }

    /// Whether a value needs quotes in neither form.
    private static func isPlain(_ value: UnsafeRawBufferPointer) -> Bool {
        guard unsafe !value.isEmpty else { return false }
        for index in 0..<value.count where unsafe !Observability.isPlain(value[index]) { return false }
        return true
    }
}

/// The name of a field: fixed, or of a value that only some requests have.
private protocol LineText {
    func put(to line: inout LineBuffer)
}

extension StaticString: LineText {
    fileprivate func put(to line: inout LineBuffer) { line.put(self) }
}

extension String: LineText {
    fileprivate func put(to line: inout LineBuffer) { line.put(self) }
}
