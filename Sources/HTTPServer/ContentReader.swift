// SPDX-License-Identifier: Apache-2.0

/// Collects a request's content, by length or chunked (RFC 9112 §6, §7.1), within a bound. Pure.
struct ContentReader {
    private enum State: Equatable {
        case fixed(left: Int)
        case chunkSize(digits: Int, size: Int)
        case chunkExtension(size: Int)
        case chunkSizeEnd(size: Int)
        case chunkData(left: Int)
        case chunkDataEnd
        case chunkDataEndLine
        case trailerStart
        case trailerLine
        case trailerLineEnd
        case trailerEnd
        case done
    }

    private var state: State
    private let maxBytes: Int
    /// Bytes of extensions and trailers so far; both are read and dropped.
    private var overhead = 0
    private(set) var content: [UInt8] = []

    /// Most bytes of chunk extensions and trailers together.
    private static let maxOverhead = 16_384

    init(_ framing: BodyFraming, maxBytes: Int) throws(RequestError) {
        self.maxBytes = maxBytes
        switch framing {
        case .none: state = .done
        case .length(let length):
            guard length <= maxBytes else { throw .bodyTooLarge }
            state = .fixed(left: length)
        case .chunked: state = .chunkSize(digits: 0, size: 0)
        }
    }

    /// Whether all of it is there.
    var isDone: Bool { state == .done }

    /// Takes what belongs to the content from `bytes`; returns how many bytes that was.
    mutating func read(_ bytes: ArraySlice<UInt8>) throws(RequestError) -> Int {
        var position = bytes.startIndex
        while position < bytes.endIndex, state != .done {
            switch state {
            case .fixed(let left):
                let count = min(left, bytes.endIndex - position)
                content += bytes[position..<(position + count)]
                position += count
                state = left == count ? .done : .fixed(left: left - count)
            case .chunkData(let left):
                let count = min(left, bytes.endIndex - position)
                content += bytes[position..<(position + count)]
                position += count
                state = left == count ? .chunkDataEnd : .chunkData(left: left - count)
            default:
                try step(bytes[position])
                position += 1
            }
        }
        return position - bytes.startIndex
    }

    /// One byte of the framing between the data.
    private mutating func step(_ byte: UInt8) throws(RequestError) {
        switch (state, byte) {
        case (.chunkSize(let digits, let size), _):
            try stepSize(byte, digits, size)
        case (.chunkExtension(let size), UInt8(ascii: "\r")): state = .chunkSizeEnd(size: size)
        case (.chunkExtension, _) where byte >= 0x20 && byte != 0x7F || byte == 0x09: try spend()
        case (.chunkSizeEnd(0), UInt8(ascii: "\n")): state = .trailerStart
        case (.chunkSizeEnd(let size), UInt8(ascii: "\n")):
            guard content.count + size <= maxBytes else { throw .bodyTooLarge }
            state = .chunkData(left: size)
        case (.chunkDataEnd, UInt8(ascii: "\r")): state = .chunkDataEndLine
        case (.chunkDataEndLine, UInt8(ascii: "\n")): state = .chunkSize(digits: 0, size: 0)
        case (.trailerStart, UInt8(ascii: "\r")): state = .trailerEnd
        case (.trailerStart, _) where FieldName.isTokenByte(byte):
            state = .trailerLine
            try spend()
        case (.trailerLine, UInt8(ascii: "\r")): state = .trailerLineEnd
        case (.trailerLine, _) where byte >= 0x20 && byte != 0x7F || byte == 0x09: try spend()
        case (.trailerLineEnd, UInt8(ascii: "\n")): state = .trailerStart
        case (.trailerEnd, UInt8(ascii: "\n")): state = .done
        default: throw .malformed
        }
    }

    private mutating func stepSize(_ byte: UInt8, _ digits: Int, _ size: Int) throws(RequestError) {
        let digit: UInt8
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: ";") where digits > 0:
            state = .chunkExtension(size: size)
            return
        case UInt8(ascii: "\r") where digits > 0:
            state = .chunkSizeEnd(size: size)
            return
        default: throw .malformed
        }
        // Fifteen digits can't overflow; no content here is that long.
        guard digits < 15 else { throw .bodyTooLarge }
        state = .chunkSize(digits: digits + 1, size: size << 4 | Int(digit))
    }

    private mutating func spend() throws(RequestError) {
        overhead += 1
        guard overhead <= Self.maxOverhead else { throw .bodyTooLarge }
    }
}
