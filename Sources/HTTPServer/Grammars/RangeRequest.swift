// SPDX-License-Identifier: Apache-2.0

/// The `Range` field of a GET (RFC 9110 §14.2): one or more byte ranges.
public struct RangeRequest: Sendable, Hashable {
    /// The ranges, in order; at least one.
    public let ranges: [ByteRange]

    /// The maximum number of ranges; a request with more gets the whole representation (RFC 9110 §17.15).
    public static let maxRanges = 64

    /// The part of a representation to send.
    public enum Selection: Sendable, Hashable {
        /// All of it, with 200.
        case whole
        /// One range, with 206 and `Content-Range`.
        case part(Range<Int64>)
        /// Several, in the requested order, overlapping or not; 206 as `multipart/byteranges`, or all with
        /// 200.
        case parts([Range<Int64>])
        /// 416, with the length in `Content-Range`.
        case unsatisfiable
    }

    /// Parses the field of a request.
    ///
    /// Nil, so that everything is sent, without the field, for another method than GET, for another unit than
    /// `bytes`, on more than one line, with too many ranges and for anything malformed (RFC 9110 §14.2).
    public init?(_ request: HTTPRequest) {
        guard request.method == .get, request.has(known: .range), !request.repeats(.range) else { return nil }
        guard let ranges = unsafe request.withFirstValue(of: .range, { unsafe RangeRequest($0) }) ?? nil
        else { return nil }
        self = ranges
    }

    /// Parses a field's value; nil if the field is to be ignored.
    public init?(_ value: UnsafeRawBufferPointer) {
        let pointer = unsafe value.assumingMemoryBound(to: UInt8.self)
        let octets = unsafe pointer.span
        let unit = 0..<min(6, octets.count)
        guard octets.spells("bytes=", unit) else { return nil }
        var members = ListMembers(unit.upperBound..<octets.count)
        var ranges: [ByteRange] = []
        while let member = members.next(in: octets) {
            guard ranges.count < Self.maxRanges, let range = ByteRange(octets, member) else { return nil }
            ranges.append(range)
        }
        guard !ranges.isEmpty else { return nil }
        self.ranges = ranges
    }

    /// The part of a representation of `length` bytes to send; unsatisfiable ranges beside others are
    /// omitted.
    public func selection(of length: Int64) -> Selection {
        let parts = ranges.compactMap { $0.offsets(in: length) }
        guard let first = parts.first else { return .unsatisfiable }
        // An empty part can't be written as a content range.
        guard !first.isEmpty else { return .whole }
        return parts.count == 1 ? .part(first) : .parts(parts)
    }
}

extension FieldValue {
    /// `Content-Range` of a part that is sent: `bytes 0-99/1234` (RFC 9110 §14.4).
    /// - Parameters:
    ///   - part: not empty, within `length`.
    ///   - length: of the whole representation, in bytes.
    public static func contentRange(_ part: Range<Int64>, of length: Int64) -> FieldValue {
        FieldValue(checked: "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)")
    }

    /// `Content-Range` beside 416: `bytes */1234` (RFC 9110 §14.4).
    public static func contentRange(unsatisfiedOf length: Int64) -> FieldValue {
        FieldValue(checked: "bytes */\(length)")
    }
}
