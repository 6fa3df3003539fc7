// SPDX-License-Identifier: Apache-2.0

/// An answer.
public struct HTTPResponse: Sendable {
    /// The status.
    public var status: HTTPStatus
    /// Lines encoded earlier, sent first.
    public var prepared: PreparedFields?
    /// Further lines.
    public var fields = HTTPFields()
    /// Lines made for this answer without allocation.
    public var scratch = FieldScratch()
    /// The body; not sent in answer to HEAD, nor with a status that forbids it.
    public var body = HTTPBody.none
    /// Whether the connection ends with this answer.
    public var closesConnection = false
    /// The handler's own value; returned to it when the answer has been sent.
    public var context: UInt64 = 0
    /// The handler's own object, for what does not fit into `context`; returned likewise.
    public var note: (any AnyObject & Sendable)?

    /// Creates an answer without fields or body.
    public init(status: HTTPStatus) {
        self.status = status
    }
}

/// A body, wherever its bytes lie.
public enum HTTPBody: Sendable {
    /// No byte.
    case none
    /// All of an array, sent from its own storage.
    case bytes([UInt8])
    /// Some of an array's bytes; the range lies within it.
    case part([UInt8], Range<Int>)
    /// Part of a file, sent by sendfile(2); `owner` is retained until then and closes the descriptor.
    case file(descriptor: CInt, offset: Int64, length: Int64, owner: any AnyObject & Sendable)
    /// Bytes that arrive over time: as many as `length` says, or in chunks if that is unknown.
    case stream(any HTTPBodyStream, length: Int?)

    /// The number of bytes; 0 while it is unknown.
    public var count: Int {
        switch self {
        case .none: 0
        case .bytes(let bytes): bytes.count
        case .part(_, let range): range.count
        case .file(_, _, let length, _): Int(length)
        case .stream(_, let length): length ?? 0
        }
    }

    /// Some of its bytes; `range` lies within it. A stream can't be divided and stays whole.
    public func part(_ range: Range<Int64>) -> HTTPBody {
        switch self {
        case .none: .none
        case .bytes(let bytes): .part(bytes, Int(range.lowerBound)..<Int(range.upperBound))
        case .part(let bytes, let outer):
            .part(
                bytes, (outer.lowerBound + Int(range.lowerBound))..<(outer.lowerBound + Int(range.upperBound))
            )
        case .file(let descriptor, let offset, _, let owner):
            .file(
                descriptor: descriptor, offset: offset + range.lowerBound,
                length: range.upperBound - range.lowerBound, owner: owner)
        case .stream: self
        }
    }
}
