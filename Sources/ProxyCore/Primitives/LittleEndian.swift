// SPDX-License-Identifier: Apache-2.0

/// Appends integers and texts in the byte order of files and of what machines exchange, least significant byte first.
package struct LittleEndianWriter {
    /// What has been written.
    package private(set) var bytes: [UInt8] = []

    /// Creates a writer of nothing.
    package init() {}

    package mutating func append<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    /// Appends bytes.
    package mutating func append(contentsOf other: some Sequence<UInt8>) {
        bytes.append(contentsOf: other)
    }

    /// Appends a key, both halves.
    package mutating func append(_ key: CacheKey) {
        append(key.high)
        append(key.low)
    }

    /// Appends zeros up to a length.
    package mutating func pad(to count: Int) {
        bytes.append(contentsOf: repeatElement(0, count: max(0, count - bytes.count)))
    }

    /// Overwrites an integer at a place, which must be large enough.
    package mutating func overwrite<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at place: Int)
    {
        unsafe withUnsafeBytes(of: value.littleEndian) { octets in
            unsafe bytes.replaceSubrange(place..<place + octets.count, with: octets)
        }
    }
}

/// Reads what `LittleEndianWriter` wrote; never past the end.
package struct LittleEndianReader {
    private let bytes: ArraySlice<UInt8>
    private var place: Int

    /// Creates a reader at the slice's first byte.
    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        place = bytes.startIndex
    }

    /// The next integer; nil if too few bytes are left.
    package mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(
        _ type: Value.Type = Value.self
    ) -> Value? {
        let count = Value.bitWidth / 8
        guard count <= bytes.endIndex - place else { return nil }
        let offset = place - bytes.startIndex
        place += count
        // Safe because so many bytes are left, and any bytes are an integer.
        return unsafe bytes.withUnsafeBytes {
            unsafe Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Value.self))
        }
    }

    /// The next key; nil if too few bytes are left.
    package mutating func key() -> CacheKey? {
        guard let high = integer(UInt64.self), let low = integer(UInt64.self) else { return nil }
        return CacheKey(high: high, low: low)
    }

    /// The next `count` bytes; nil if there are fewer.
    package mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= bytes.endIndex - place else { return nil }
        defer { place += count }
        return bytes[place..<place + count]
    }
}
