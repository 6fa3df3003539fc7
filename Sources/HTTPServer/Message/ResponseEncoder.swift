// SPDX-License-Identifier: Apache-2.0

/// Writes heads into a reused buffer (RFC 9112 §4, §5).
struct ResponseEncoder {
    /// `Date: …\r\n` of the present second.
    var dateLine: [UInt8] = []

    /// Hot path: appends the head of `response`, whose content has `length` bytes; lines always in the same order.
    func encode(
        _ response: HTTPResponse, contentLength length: Int, requestID: RequestID, keepsAlive: Bool,
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
        if !response.status.forbidsBody {
            Self.append("\r\nContent-Length: ", to: &out)
            Self.append(length, to: &out)
        }
        if !keepsAlive {
            Self.append("\r\nConnection: close", to: &out)
        } else if isHTTP10 {
            Self.append("\r\nConnection: keep-alive", to: &out)
        }
        Self.append("\r\n\r\n", to: &out)
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
