// SPDX-License-Identifier: Apache-2.0

import Freshness
import Primitives

/// Collects the lines of a response's head as libcurl delivers them, without interim responses.
struct OriginHeadReader {
    /// The result of a line.
    enum Step: Equatable {
        /// More lines follow, or the line is not part of the head.
        case more
        case complete(status: Int)
        /// The head exceeds its limit of bytes or of lines.
        case tooLarge
        /// The status line is malformed, or of a version that the connection does not speak.
        case noStatusLine
    }

    /// The number of fields that most heads have at most.
    private static let usualFields = 16

    /// 101 Switching Protocols (RFC 9110 §15.2.2).
    static let switchingProtocols = 101

    /// The fields that determine where a body ends.
    private static let framing: Set<String> = ["content-length", "transfer-encoding"]

    /// The maximum number of lines of a response's heads and trailers together. Each line costs time, however
    /// short it is.
    static let maxLines = 500

    private let maxBytes: Int
    private var bytes = 0
    private var lines = 0
    private var status = 0
    private var isComplete = false
    private var expectsStatusLine = true

    /// Whether the connection speaks HTTP/2, as ALPN negotiated; otherwise it speaks HTTP/1.1 or 1.0.
    var isHTTP2 = false

    /// Whether any byte has been received.
    var hasBegun: Bool { bytes > 0 }

    /// Whether a field that frames the body has white space before its colon: libcurl ignores such a field
    /// (RFC 9112 §5.1).
    private(set) var hidesFraming = false

    /// The fields so far, names in lower case.
    private(set) var fields: [HeaderField] = []

    init(maxBytes: ByteCount) {
        self.maxBytes = maxBytes.bytes
        fields.reserveCapacity(Self.usualFields)
    }

    /// Reads one line with its line end; lines after a complete head are trailers, which are counted and
    /// dropped.
    mutating func read(_ line: UnsafeRawBufferPointer) -> Step {
        bytes += line.count
        lines += 1
        guard bytes <= maxBytes, lines <= Self.maxLines else { return .tooLarge }
        guard !isComplete else { return .more }
        let text = unsafe Self.trimmingLineEnd(line)
        if expectsStatusLine {
            guard let status = unsafe status(in: text) else { return .noStatusLine }
            self.status = status
            expectsStatusLine = false
            return .more
        }
        guard unsafe text.isEmpty else {
            unsafe readField(text)
            return .more
        }
        return finish()
    }

    /// An empty line ends the head; after an interim response (RFC 9110 §15.2) the next head begins. No HTTP
    /// follows a switch of protocols.
    private mutating func finish() -> Step {
        guard status >= 200 || status == Self.switchingProtocols else {
            fields = []
            hidesFraming = false
            expectsStatusLine = true
            return .more
        }
        isComplete = true
        return .complete(status: status)
    }

    private mutating func readField(_ text: UnsafeRawBufferPointer.SubSequence) {
        if let first = unsafe text.first, Self.isBlank(first) {
            unsafe unfold(text)
            return
        }
        guard let colon = unsafe text.firstIndex(of: UInt8(ascii: ":")), unsafe colon > text.startIndex else {
            return
        }
        let name = unsafe Self.lowercased(Self.droppingBlanks(text[..<colon]))
        if unsafe Self.isBlank(text[colon - 1]), Self.framing.contains(name) { hidesFraming = true }
        let value = unsafe Self.trimmingBlanks(text[(colon + 1)...])
        fields.append(HeaderField(name: name, value: value))
    }

    /// A line that begins with white space continues the line before (obs-fold, RFC 9112 §5.2).
    private mutating func unfold(_ text: UnsafeRawBufferPointer.SubSequence) {
        guard !fields.isEmpty else { return }
        // libcurl ignores the folded part.
        if Self.framing.contains(fields[fields.count - 1].name) { hidesFraming = true }
        fields[fields.count - 1].value += " " + (unsafe Self.trimmingBlanks(text))
    }

    /// The three digits after the version; nil if the line does not begin with a status line (RFC 9112 §4).
    ///
    /// libcurl accepts more: leading white space, `HTTP 200`, and any version on any connection.
    private func status(in text: UnsafeRawBufferPointer.SubSequence) -> Int? {
        let versions = isHTTP2 ? ["HTTP/2 "] : ["HTTP/1.1 ", "HTTP/1.0 "]
        guard let version = versions.first(where: { unsafe text.starts(with: $0.utf8) }) else { return nil }
        let digits = unsafe text.dropFirst(version.utf8.count).prefix(3)
        guard unsafe digits.count == 3, unsafe digits.allSatisfy(\.isASCIIDigit) else { return nil }
        return unsafe digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func trimmingLineEnd(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer.SubSequence
    {
        var text = unsafe line[...]
        while let last = unsafe text.last, last == 0x0A || last == 0x0D { unsafe text.removeLast() }
        return unsafe text
    }

    private static func lowercased(_ name: UnsafeRawBufferPointer.SubSequence) -> String {
        guard unsafe name.allSatisfy({ $0 < 0x80 }) else {
            return unsafe String(decoding: name, as: UTF8.self).lowercased()
        }
        return unsafe String(unsafeUninitializedCapacity: name.count) { buffer in
            for place in unsafe 0..<name.count {
                let byte = unsafe name[name.startIndex + place]
                unsafe buffer[place] = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
            }
            return unsafe name.count
        }
    }

    private static func trimmingBlanks(_ text: UnsafeRawBufferPointer.SubSequence) -> String {
        unsafe String(decoding: droppingBlanks(text.drop(while: isBlank)), as: UTF8.self)
    }

    private static func droppingBlanks(
        _ text: UnsafeRawBufferPointer.SubSequence
    ) -> UnsafeRawBufferPointer.SubSequence {
        var rest = unsafe text
        while let last = unsafe rest.last, isBlank(last) { unsafe rest.removeLast() }
        return unsafe rest
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
