// SPDX-License-Identifier: Apache-2.0

/// Field lines encoded once and copied into many answers.
public final class PreparedFields: Sendable {
    /// `Name: value\r\n` for each line.
    let bytes: [UInt8]
    /// Whether a `Date` is among them.
    let isDated: Bool

    /// Encodes `fields`.
    public init(_ fields: HTTPFields) {
        var bytes: [UInt8] = []
        for line in fields.lines {
            bytes += line.name.bytes
            bytes += ": ".utf8
            bytes += line.value.bytes
            bytes += "\r\n".utf8
        }
        self.bytes = bytes
        isDated = fields.isDated
    }
}

/// A few field lines built on the stack for one answer, without allocation. What does not fit is left out whole, and so
/// is what `HTTPFields` does not take.
public struct FieldScratch: Sendable {
    private var storage = InlineArray<256, UInt8>(repeating: 0)
    private var count = 0

    /// No line.
    public init() {}

    /// Adds a number.
    public mutating func append(_ name: FieldName, integer: Int64) {
        append(name, "", integer: integer, "")
    }

    /// Adds a checked value.
    public mutating func append(_ name: FieldName, _ value: FieldValue) {
        guard !name.isFraming, fits(name.bytes.count + value.bytes.count) else { return }
        begin(name)
        for byte in value.bytes { put(byte) }
        end()
    }

    /// Adds fixed text, a number, fixed text.
    ///
    /// The texts are written in the source, where no request reaches; a debug build stops at one that is no field value.
    public mutating func append(
        _ name: FieldName, _ before: StaticString, integer: Int64, _ after: StaticString
    ) {
        assert(Self.isFieldText(before) && Self.isFieldText(after), "no field value: \(before)…\(after)")
        guard !name.isFraming,
            fits(name.bytes.count + before.utf8CodeUnitCount + 20 + after.utf8CodeUnitCount)
        else { return }
        begin(name)
        put(before)
        put(integer)
        put(after)
        end()
    }

    /// Hot path: lends the lines.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe storage.span.withUnsafeBytes { unsafe body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    private static func isFieldText(_ text: StaticString) -> Bool {
        unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
            .allSatisfy(Octet.isFieldText)
    }

    private func fits(_ length: Int) -> Bool { count + length + 4 <= storage.count }

    private mutating func begin(_ name: FieldName) {
        for byte in name.bytes { put(byte) }
        put(": ")
    }

    private mutating func end() { put("\r\n") }

    private mutating func put(_ byte: UInt8) {
        storage[count] = byte
        count += 1
    }

    private mutating func put(_ text: StaticString) {
        for index in 0..<text.utf8CodeUnitCount { unsafe put(text.utf8Start[index]) }
    }

    private mutating func put(_ number: Int64) {
        if number < 0 { put(UInt8(ascii: "-")) }
        var magnitude = number.magnitude
        var divisor: UInt64 = 1
        while magnitude / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            put(UInt8(ascii: "0") + UInt8(magnitude / divisor))
            magnitude %= divisor
            divisor /= 10
        }
    }
}
