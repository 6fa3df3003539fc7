// SPDX-License-Identifier: Apache-2.0

/// Writes heads into a reused buffer (RFC 9112 §4, §5).
struct ResponseEncoder {
    /// `Date: …\r\n` of the present second.
    var dateLine: [UInt8] = []

    /// The beginning of every head.
    static let beginning: StaticString = "HTTP/1.1 "

    /// What a head contains in addition to its response.
    struct Frame {
        var framing: ResponseFraming
        var requestID: RequestID
        var keepsAlive: Bool
        var isHTTP10: Bool
    }

    /// Hot path: appends the head of `response`, whose content is delimited as the frame says; lines are
    /// always in the same order.
    func encode(_ response: HTTPResponse, _ frame: Frame, into out: inout ReusedArray<UInt8>) {
        out.append(upTo: mostBytes(response)) { writer in
            Self.putStatusLine(response.status, &writer)
            if response.prepared?.isDated != true, response.fields.dateEnd == nil { writer.put(dateLine) }
            if let prepared = response.prepared { writer.put(prepared.bytes) }
            writer.put(response.fields.bytes)
            unsafe response.scratch.withBytes { unsafe writer.put($0) }
            writer.put("X-Request-Id: ")
            unsafe frame.requestID.withBytes { unsafe writer.put($0) }
            if !response.status.forbidsBody { Self.put(frame.framing, &writer) }
            if !frame.keepsAlive {
                writer.put("\r\nConnection: close")
            } else if frame.isHTTP10 {
                writer.put("\r\nConnection: keep-alive")
            }
            writer.put("\r\n\r\n")
        }
    }

    /// The maximum length of the head of `response`.
    private func mostBytes(_ response: HTTPResponse) -> Int {
        var bytes = Self.mostOwnBytes + response.status.reason.utf8CodeUnitCount + dateLine.count
        bytes += (response.prepared?.bytes.count ?? 0) + response.fields.count + response.scratch.count
        return bytes
    }

    /// The maximum length of status line without its reason, request id, framing and connection.
    private static var mostOwnBytes: Int { 256 }

    private static func put(_ framing: ResponseFraming, _ writer: inout OctetWriter) {
        switch framing {
        case .length(let length):
            writer.put("\r\nContent-Length: ")
            writer.put(Int64(length))
        case .chunked: writer.put("\r\nTransfer-Encoding: chunked")
        case .untilClose: return
        }
    }

    /// Appends the line before a chunk's bytes (RFC 9112 §7.1); `count` is above 0.
    static func appendChunkLine(_ count: Int, to out: inout ReusedArray<UInt8>) {
        var shift = (Int.bitWidth - count.leadingZeroBitCount - 1) / 4 * 4
        while shift >= 0 {
            out.append(hexadecimalDigit(count >> shift & 0xF))
            shift -= 4
        }
        append("\r\n", to: &out)
    }

    /// Appends a text of the source.
    static func append(_ text: StaticString, to out: inout ReusedArray<UInt8>) {
        out.append(upTo: text.utf8CodeUnitCount) { $0.put(text) }
    }

    private static func hexadecimalDigit(_ value: Int) -> UInt8 {
        UInt8(value) + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
    }

    private static func putStatusLine(_ status: HTTPStatus, _ writer: inout OctetWriter) {
        switch status.code {
        case 200: writer.put("HTTP/1.1 200 OK\r\n")
        case 304: writer.put("HTTP/1.1 304 Not Modified\r\n")
        default:
            writer.put(beginning)
            writer.put(Int64(status.code))
            writer.put(" ")
            writer.put(status.reason)
            writer.put("\r\n")
        }
    }
}

/// How a client recognizes the end of an answer (RFC 9112 §6.3).
enum ResponseFraming: Equatable {
    /// The body has so many bytes.
    case length(Int)
    /// By the last chunk (RFC 9112 §7.1).
    case chunked
    /// By the end of the connection: for clients of HTTP/1.0, which does not know chunks.
    case untilClose
}
