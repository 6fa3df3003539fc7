// SPDX-License-Identifier: Apache-2.0

/// A HEIF file in which each item's descriptive properties precede its rotation, mirroring and cropping, as
/// ISO/IEC 23008-12 §9.3.1 requires.
///
/// Some encoders use another order, which browsers' decoders accept. libheif 1.15.1 rotates the size before
/// it has read it, and then finds another size in the picture.
enum HEIFOrder {
    /// Sorts the properties in place; their positions do not change. O(number of items).
    static func arrange(_ file: UnsafeMutableRawBufferPointer) {
        for list in unsafe HEIFItems(UnsafeRawBufferPointer(file))?.disordered ?? [] {
            let entries = list.entries.flatMap { bigEndian($0, length: list.width) }
            let start = list.end - entries.count
            for (index, byte) in entries.enumerated() { unsafe file[start + index] = byte }
        }
    }
}

extension HEIFItems {
    /// The lists of properties in the wrong order, sorted.
    fileprivate var disordered: [Associations] {
        associations.compactMap { item, list in
            guard let listed = properties[item], listed.count == list.entries.count,
                list.end - list.countPlace == 1 + list.entries.count * list.width
            else { return nil }
            let pairs = zip(list.entries, listed)
            let describing = pairs.filter { !Self.changes.contains($1.type) }.map(\.0)
            let ordered = describing + pairs.filter { Self.changes.contains($1.type) }.map(\.0)
            guard ordered != list.entries else { return nil }
            return Associations(
                countPlace: list.countPlace, end: list.end, width: list.width, entries: ordered)
        }
    }
}
