// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import ProxyCore

/// An error as a client receives it: `application/problem+json` (RFC 9457).
struct ProblemDocument {
    var status: Int
    var code: String
    var title: String
    var detail: String?
    var parameter: String?
    var position: Int?
    var upstreamStatus: Int?

    /// The document for a failure of the pipeline.
    init(_ error: PipelineError) {
        let row = error.row
        status = row.status
        code = row.code
        title = row.title
        detail = error.detail
        parameter = error.parameter?.name
        position = error.parameter?.position
        upstreamStatus = error.upstreamStatus
    }

    /// Creates a document from its members.
    init(status: Int, code: String, title: String, detail: String? = nil) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
    }

    /// The document's bytes, members in a fixed order.
    var json: [UInt8] {
        var members = [
            #""type":"about:blank""#, #""title":\#(Self.quoted(title))"#, #""status":\#(status)"#,
            #""code":\#(Self.quoted(code))"#,
        ]
        if let detail { members.append(#""detail":\#(Self.quoted(detail))"#) }
        if let parameter { members.append(#""parameter":\#(Self.quoted(parameter))"#) }
        if let position { members.append(#""position":\#(position)"#) }
        if let upstreamStatus { members.append(#""upstream_status":\#(upstreamStatus)"#) }
        return Array("{\(members.joined(separator: ","))}\n".utf8)
    }

    /// A JSON string (RFC 8259 §7): quotes, backslashes and controls escaped.
    static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        bytes.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20, 0x7F:
                bytes += "\\u00".utf8
                bytes += [hexadecimalDigits[Int(byte >> 4)], hexadecimalDigits[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let hexadecimalDigits = Array("0123456789abcdef".utf8)
}
