// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Builds the path of an entry's file below the folder: `results/ab/abcd…`, without a `String`.
enum EntryPath {
    /// The longest path, "intermediates/ab/", 32 digits and the end, in bytes; rounded up.
    private static let capacity = 64
    private static let digits: StaticString = "0123456789abcdef"

    static func folder(of kind: EntryKind) -> StaticString {
        switch kind {
        case .original: "originals"
        case .result: "results"
        case .intermediate: "intermediates"
        case .derived: "derived"
        }
    }

    /// Hot path: calls `body` with the path as a C string, which is valid during the call.
    static func with<Result>(
        _ id: EntryID, _ body: (UnsafePointer<CChar>) -> Result
    ) -> Result {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer in
            var count = 0
            unsafe append(folder(of: id.kind), to: buffer, &count)
            unsafe append("/", to: buffer, &count)
            unsafe appendHex(id.key.high, digits: 2, to: buffer, &count)
            unsafe append("/", to: buffer, &count)
            unsafe appendHex(id.key.high, digits: 16, to: buffer, &count)
            unsafe appendHex(id.key.low, digits: 16, to: buffer, &count)
            unsafe buffer.initializeElement(at: count, to: 0)
            // Safe because the buffer was terminated just now, and has a base address, its capacity not being
            // 0.
            return unsafe body(UnsafePointer(buffer.baseAddress.unsafelyUnwrapped))
        }
    }

    /// Parses a file's name as a key; nil for anything that is not exactly an entry's name.
    static func key(ofName name: String) -> CacheKey? {
        guard let key = CacheKey(name), key.description == name else { return nil }
        return key
    }

    private static func append(
        _ text: StaticString, to buffer: UnsafeMutableBufferPointer<CChar>, _ count: inout Int
    ) {
        for index in 0..<text.utf8CodeUnitCount {
            unsafe buffer.initializeElement(at: count, to: CChar(bitPattern: text.utf8Start[index]))
            count += 1
        }
    }

    private static func appendHex(
        _ word: UInt64, digits count: Int, to buffer: UnsafeMutableBufferPointer<CChar>, _ place: inout Int
    ) {
        for index in 0..<count {
            let digit = Int(truncatingIfNeeded: word >> UInt64(60 - 4 * index) & 15)
            unsafe buffer.initializeElement(at: place, to: CChar(bitPattern: digits.utf8Start[digit]))
            place += 1
        }
    }
}
