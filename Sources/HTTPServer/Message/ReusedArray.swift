// SPDX-License-Identifier: Apache-2.0

/// An array that is filled and emptied for every request: emptying costs one store, since old elements stay
/// in memory until others overwrite them.
///
/// For elements that own nothing, or are cleared before the array is emptied.
struct ReusedArray<Element>: RandomAccessCollection, MutableCollection {
    /// The elements, followed by old ones.
    private(set) var storage: [Element] = []
    private(set) var count = 0

    var startIndex: Int { 0 }
    var endIndex: Int { count }

    /// Hot path: an element below `count`.
    subscript(index: Int) -> Element {
        @inline(__always)
        get {
            precondition(index < count)
            return storage[index]
        }
        @inline(__always)
        _modify {
            precondition(index < count)
            yield &storage[index]
        }
    }

    /// Hot path: adds an element.
    @inline(__always)
    mutating func append(_ element: Element) {
        if count < storage.count {
            storage[count] = element
        } else {
            storage.append(element)
        }
        count += 1
    }

    /// Hot path: adds an element by overwriting an old one in place; `make` creates one if no old one is
    /// left.
    @inline(__always)
    mutating func append(reusing make: @autoclosure () -> Element, _ write: (inout Element) -> Void) {
        if count == storage.count { storage.append(make()) }
        write(&storage[count])
        count += 1
    }

    /// Hot path: removes all elements, and keeps the capacity.
    @inline(__always)
    mutating func removeAll() { count = 0 }

    /// Hot path: lends the memory of the elements.
    @inline(__always)
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try unsafe storage.withUnsafeBytes { bytes in
            let length = count * MemoryLayout<Element>.stride
            return unsafe try body(UnsafeRawBufferPointer(rebasing: bytes[..<length]))
        }
    }
}

extension ReusedArray: Sendable where Element: Sendable {}

extension ReusedArray<UInt8> {
    /// Hot path: lets `write` add at most `capacity` octets; it returns the new count of octets.
    @inline(__always)
    mutating func append(upTo capacity: Int, _ write: (inout OctetWriter) -> Void) {
        if storage.count < count + capacity {
            storage.append(contentsOf: repeatElement(0, count: count + capacity - storage.count))
        }
        let start = count
        count = unsafe storage.withUnsafeMutableBytes { bytes in
            var writer = unsafe OctetWriter(bytes, from: start)
            write(&writer)
            return writer.count
        }
    }

    /// Hot path: adds octets.
    @inline(__always)
    mutating func append(_ octets: UnsafeRawBufferPointer) {
        append(upTo: octets.count) { unsafe $0.put(octets) }
    }
}
