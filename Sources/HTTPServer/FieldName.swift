// SPDX-License-Identifier: Apache-2.0

/// A field's name: a token (RFC 9110 §5.1), compared without case.
public struct FieldName: Sendable, Hashable {
    /// The name as it is sent.
    let bytes: [UInt8]

    /// Checks a name; nil unless it is a token.
    public init?(_ name: String) {
        let bytes = Array(name.utf8)
        guard !bytes.isEmpty, bytes.allSatisfy(Self.isTokenByte) else { return nil }
        self.bytes = bytes
    }

    private init(known name: StaticString) {
        bytes = unsafe Array(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    }

    /// Compares without case.
    public static func == (left: FieldName, right: FieldName) -> Bool {
        left.bytes.count == right.bytes.count
            && zip(left.bytes, right.bytes).allSatisfy { lower($0) == lower($1) }
    }

    /// Hashes without case.
    public func hash(into hasher: inout Hasher) {
        for byte in bytes { hasher.combine(Self.lower(byte)) }
    }

    /// Whether raw bytes spell this name in any case.
    func matches(_ other: UnsafeRawBufferPointer) -> Bool {
        guard other.count == bytes.count else { return false }
        for index in bytes.indices where unsafe Self.lower(bytes[index]) != Self.lower(other[index]) {
            return false
        }
        return true
    }

    static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

    /// Whether a byte may stand in a token (RFC 9110 §5.6.2).
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60, 0x7C, 0x7E: true
        default: false
        }
    }

    /// `Accept`.
    public static let accept = FieldName(known: "Accept")
    /// `Age`.
    public static let age = FieldName(known: "Age")
    /// `Allow`.
    public static let allow = FieldName(known: "Allow")
    /// `Cache-Control`.
    public static let cacheControl = FieldName(known: "Cache-Control")
    /// `Connection`.
    public static let connection = FieldName(known: "Connection")
    /// `Content-Disposition`.
    public static let contentDisposition = FieldName(known: "Content-Disposition")
    /// `Content-Length`.
    public static let contentLength = FieldName(known: "Content-Length")
    /// `Content-Type`.
    public static let contentType = FieldName(known: "Content-Type")
    /// `Date`.
    public static let date = FieldName(known: "Date")
    /// `ETag`.
    public static let etag = FieldName(known: "ETag")
    /// `Expect`.
    public static let expect = FieldName(known: "Expect")
    /// `Host`.
    public static let host = FieldName(known: "Host")
    /// `If-Modified-Since`.
    public static let ifModifiedSince = FieldName(known: "If-Modified-Since")
    /// `If-None-Match`.
    public static let ifNoneMatch = FieldName(known: "If-None-Match")
    /// `Last-Modified`.
    public static let lastModified = FieldName(known: "Last-Modified")
    /// `Retry-After`.
    public static let retryAfter = FieldName(known: "Retry-After")
    /// `Transfer-Encoding`.
    public static let transferEncoding = FieldName(known: "Transfer-Encoding")
    /// `Cache-Status`.
    public static let cacheStatus = FieldName(known: "Cache-Status")
    /// `Content-Security-Policy`.
    public static let contentSecurityPolicy = FieldName(known: "Content-Security-Policy")
    /// `X-Content-Type-Options`.
    public static let contentTypeOptions = FieldName(known: "X-Content-Type-Options")
    /// `Cross-Origin-Resource-Policy`.
    public static let crossOriginResourcePolicy = FieldName(known: "Cross-Origin-Resource-Policy")
    /// `X-Request-Id`.
    public static let requestID = FieldName(known: "X-Request-Id")
    /// `Server-Timing`.
    public static let serverTiming = FieldName(known: "Server-Timing")
    /// `Vary`.
    public static let vary = FieldName(known: "Vary")
}

/// A field's value without any byte that could end its line (RFC 9110 §5.5): response splitting can't be written.
public struct FieldValue: Sendable, Hashable {
    let bytes: [UInt8]

    /// Checks a value; nil when it has a control character (but a tab) or space at either end.
    public init?(_ value: String) {
        self.init(Array(value.utf8))
    }

    /// Checks a value's bytes, as the other initializer.
    public init?(_ bytes: [UInt8]) {
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { return nil }
        guard bytes.first != 0x20, bytes.first != 0x09, bytes.last != 0x20, bytes.last != 0x09 else {
            return nil
        }
        self.bytes = bytes
    }

    /// Writes a number.
    public init(_ number: some BinaryInteger) {
        bytes = Array(String(number).utf8)
    }
}

/// Field lines in order.
public struct HTTPFields: Sendable, Hashable {
    private(set) var lines: [Line] = []

    struct Line: Sendable, Hashable {
        var name: FieldName
        var value: FieldValue
    }

    /// No field.
    public init() {}

    /// Adds a line, whatever others of its name there are.
    public mutating func append(_ name: FieldName, _ value: FieldValue) {
        lines.append(Line(name: name, value: value))
    }

    /// Puts one line in place of all of its name.
    public mutating func set(_ name: FieldName, _ value: FieldValue) {
        lines.removeAll { $0.name == name }
        append(name, value)
    }
}
