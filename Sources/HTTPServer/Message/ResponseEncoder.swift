// SPDX-License-Identifier: Apache-2.0

/// Writes heads into a reused buffer (RFC 9112 §4, §5).
struct ResponseEncoder {
    /// `Date: …\r\n` of the present second.
    var dateLine: [UInt8] = []

    /// Hot path: appends the head of `response`, whose content ends as `framing` says; lines always in the same order.
    func encode(
        _ response: HTTPResponse, framing: ResponseFraming, requestID: RequestID, keepsAlive: Bool,
        isHTTP10: Bool, into out: inout [UInt8]
    ) {
        Self.appendStatusLine(response.status, to: &out)
        if !(response.prepared?.isDated ?? response.fields.isDated) { out.append(contentsOf: dateLine) }
        if let prepared = response.prepared { out.append(contentsOf: prepared.bytes) }
        for line in response.fields.lines {
            out.append(contentsOf: line.name.bytes)
            Self.append(": ", to: &out)
            out.append(contentsOf: line.value.bytes)
            Self.append("\r\n", to: &out)
        }
        unsafe response.scratch.withBytes { unsafe out.append(contentsOf: $0) }
        Self.append("X-Request-Id: ", to: &out)
        unsafe requestID.withBytes { unsafe out.append(contentsOf: $0) }
        if !response.status.forbidsBody { Self.append(framing, to: &out) }
        if !keepsAlive {
            Self.append("\r\nConnection: close", to: &out)
        } else if isHTTP10 {
            Self.append("\r\nConnection: keep-alive", to: &out)
        }
        Self.append("\r\n\r\n", to: &out)
    }

    private static func append(_ framing: ResponseFraming, to out: inout [UInt8]) {
        switch framing {
        case .length(let length):
            append("\r\nContent-Length: ", to: &out)
            append(length, to: &out)
        case .chunked: append("\r\nTransfer-Encoding: chunked", to: &out)
        case .untilClose: return
        }
    }

    /// Appends the line before a chunk's bytes (RFC 9112 §7.1); `count` is above 0.
    static func appendChunkLine(_ count: Int, to out: inout [UInt8]) {
        var shift = (Int.bitWidth - count.leadingZeroBitCount - 1) / 4 * 4
        while shift >= 0 {
            out.append(hexadecimalDigit(count >> shift & 0xF))
            shift -= 4
        }
        append("\r\n", to: &out)
    }

    private static func hexadecimalDigit(_ value: Int) -> UInt8 {
        UInt8(value) + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }

    private static func appendStatusLine(_ status: HTTPStatus, to out: inout [UInt8]) {
        switch status.code {
        case 200: append("HTTP/1.1 200 OK\r\n", to: &out)
        case 304: append("HTTP/1.1 304 Not Modified\r\n", to: &out)
        default:
            append("HTTP/1.1 ", to: &out)
            append(Int(status.code), to: &out)
            append(" ", to: &out)
            append(status.reason, to: &out)
            append("\r\n", to: &out)
        }
    }

    private static func append(_ text: StaticString, to out: inout [UInt8]) {
        unsafe out.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private static func append(_ number: Int, to out: inout [UInt8]) {
        var divisor = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            out.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }
}
