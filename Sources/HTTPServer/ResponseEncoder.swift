// SPDX-License-Identifier: Apache-2.0

/// Writes heads into a reused buffer (RFC 9112 §4, §5).
struct ResponseEncoder {
    /// `Date: …\r\n` of the present second.
    var dateLine: [UInt8] = []

    /// Appends the head of `response`, whose content has `length` bytes; field lines always in the same order.
    func encode(
        _ response: HTTPResponse, contentLength length: Int, keepsAlive: Bool, isHTTP10: Bool,
        into out: inout [UInt8]
    ) {
        out += "HTTP/1.1 ".utf8
        Self.append(Int(response.status.code), to: &out)
        out.append(UInt8(ascii: " "))
        Self.append(response.status.reason, to: &out)
        out += "\r\n".utf8
        out += dateLine
        if let prepared = response.prepared { out += prepared.bytes }
        for line in response.fields.lines {
            out += line.name.bytes
            out += ": ".utf8
            out += line.value.bytes
            out += "\r\n".utf8
        }
        for index in 0..<response.scratch.count { out.append(response.scratch.storage[index]) }
        if !response.status.forbidsBody {
            out += "Content-Length: ".utf8
            Self.append(length, to: &out)
            out += "\r\n".utf8
        }
        if !keepsAlive {
            out += "Connection: close\r\n".utf8
        } else if isHTTP10 {
            out += "Connection: keep-alive\r\n".utf8
        }
        out += "\r\n".utf8
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
