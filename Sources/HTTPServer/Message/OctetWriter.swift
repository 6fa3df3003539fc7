// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Writes octets one after the other into memory of sufficient size; stops the process rather than write
/// beyond it.
///
/// Used only within the closure that the memory was lent to. Safe because each step is checked against the
/// size of that memory.
@safe struct OctetWriter {
    private let memory: UnsafeMutableRawBufferPointer
    /// Octets from the memory's beginning to where the next one goes.
    private(set) var count: Int

    /// Writes after the first `count` octets of `memory`.
    init(_ memory: UnsafeMutableRawBufferPointer, from count: Int) {
        precondition(count <= memory.count)
        unsafe self.memory = memory
        self.count = count
    }

    /// Hot path: copies octets.
    @inline(__always)
    mutating func put(_ octets: UnsafeRawBufferPointer) {
        unsafe precondition(octets.count <= memory.count - count)
        guard let source = octets.baseAddress, let target = unsafe memory.baseAddress else { return }
        // Safe because both have that many octets, by the line above.
        unsafe memcpy(target + count, source, octets.count)
        count += octets.count
    }

    /// Hot path: copies an array.
    @inline(__always)
    mutating func put(_ octets: [UInt8]) {
        unsafe octets.withUnsafeBytes { unsafe put($0) }
    }

    /// Hot path: copies a text of the source.
    @inline(__always)
    mutating func put(_ text: StaticString) {
        unsafe put(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Hot path: writes a number in decimal, at most `maxDigits` octets.
    mutating func put(_ number: Int64) {
        if number < 0 { put("-") }
        var magnitude = number.magnitude
        let length = Self.digits(of: magnitude)
        unsafe precondition(length <= memory.count - count)
        // From the right: division by the constant ten is a multiplication, by a changing power of ten it is
        // not.
        for place in stride(from: count + length - 1, through: count, by: -1) {
            unsafe memory[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude % 10)
            magnitude /= 10
        }
        count += length
    }

    /// The maximum number of octets of a number: `-9223372036854775808`.
    static var maxDigits: Int { 20 }

    private static func digits(of magnitude: UInt64) -> Int {
        var (length, limit) = (1, UInt64(10))
        while magnitude >= limit {
            length += 1
            guard length < maxDigits else { break }
            limit *= 10
        }
        return length
    }
}
