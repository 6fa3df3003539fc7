// SPDX-License-Identifier: Apache-2.0

/// Up to 64 bytes of text stored inline, so that a record on the hit path needs no allocation.
///
/// Of a longer text the first 64 bytes are stored. The bytes need not be UTF-8; `string` repairs them.
package struct InlineText: Sendable {
    /// The maximum number of bytes.
    package static let capacity = 64

    private var bytes = InlineArray<64, UInt8>(repeating: 0)
    private var count: UInt8 = 0

    /// Creates an empty text.
    package init() {}

    /// Hot path: stores the first bytes of `source`, up to `end` if that byte occurs.
    package init(_ source: UnsafeRawBufferPointer, upTo end: UInt8? = nil) {
        unsafe fill(from: source)
        if let end { cut(at: end) }
    }

    /// Stores the first bytes of `text`.
    package init(_ text: String) {
        var text = text
        text.withUTF8 { unsafe fill(from: UnsafeRawBufferPointer($0)) }
    }

    private mutating func fill(from source: UnsafeRawBufferPointer) {
        let kept = min(source.count, Self.capacity)
        count = UInt8(kept)
        var target = bytes.mutableSpan
        // Safe because both have at least `kept` bytes.
        unsafe target.withUnsafeMutableBytes { target in
            unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<kept]))
        }
    }

    private mutating func cut(at end: UInt8) {
        for index in 0..<Int(count) where bytes[index] == end {
            count = UInt8(index)
            return
        }
    }

    /// Lends the bytes.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe bytes.span.withUnsafeBytes { unsafe body(UnsafeRawBufferPointer(rebasing: $0[..<Int(count)])) }
    }

    /// The text; bytes that are not UTF-8 are replaced.
    package var string: String {
        String(decoding: (0..<Int(count)).map { bytes[$0] }, as: UTF8.self)
    }

    /// Whether there is no text.
    package var isEmpty: Bool { count == 0 }
}
