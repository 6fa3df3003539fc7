// SPDX-License-Identifier: Apache-2.0

/// Bytes of many lines to be written to a log: one allocation that is reused and grows when a line needs it.
///
/// Safe because no other code has the memory, and every write is within it.
@safe
struct LineBuffer: ~Copyable {
    private var memory: UnsafeMutableRawBufferPointer
    /// The number of bytes that have been added.
    private(set) var count = 0

    /// Creates a buffer with capacity for `capacity` bytes.
    init(capacity: Int) {
        unsafe memory = .allocate(byteCount: max(64, capacity), alignment: 16)
    }

    deinit {
        unsafe memory.deallocate()
    }

    /// Lends the bytes.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        unsafe body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }

    /// Empties the buffer; the capacity stays.
    mutating func removeAll() {
        count = 0
    }

    /// Hot path: adds bytes.
    @inline(__always)
    mutating func put(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        // Safe because there is capacity for all of them.
        if let start = bytes.baseAddress, let target = unsafe memory.baseAddress {
            unsafe (target + count).copyMemory(from: start, byteCount: bytes.count)
        }
        count += bytes.count
    }

    /// Hot path: adds bytes.
    mutating func put(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { unsafe put($0) }
    }

    /// Hot path: adds fixed text.
    @inline(__always)
    mutating func put(_ text: StaticString) {
        // Safe because a static string's bytes are never freed.
        unsafe put(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Adds a text.
    mutating func put(_ text: String) {
        var text = text
        text.withUTF8 { unsafe put(UnsafeRawBufferPointer($0)) }
    }

    /// Hot path: adds a byte.
    mutating func put(_ byte: UInt8) {
        reserve(1)
        unsafe memory[count] = byte
        count += 1
    }

    /// Hot path: adds a number's decimal digits.
    mutating func put(_ number: UInt64) {
        var (length, rest) = (1, number / 10)
        while rest > 0 {
            length += 1
            rest /= 10
        }
        reserve(length)
        rest = number
        for place in stride(from: count + length - 1, through: count, by: -1) {
            unsafe memory[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        count += length
    }

    private mutating func reserve(_ more: Int) {
        guard unsafe count + more > memory.count else { return }
        let larger = unsafe UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(2 * memory.count, count + more), alignment: 16)
        unsafe larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
        unsafe memory.deallocate()
        unsafe memory = larger
    }
}
