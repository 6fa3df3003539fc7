// SPDX-License-Identifier: Apache-2.0

/// The header and the primaries of a colour profile (ICC.1:2010 §7).
@safe struct ColorProfile {
    private let bytes: UnsafeRawBufferPointer

    /// Reads `bytes`, which must exist as long as the profile.
    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = unsafe bytes
    }

    /// The colour space of the profile's pixels (§7.2.6): four letters; nil if the header is incomplete.
    var space: String? {
        guard unsafe bytes.count >= Self.headerLength else { return nil }
        return unsafe String(decoding: bytes[16..<20], as: UTF8.self)
    }

    /// Whether it is sRGB (IEC 61966-2.1): by the device's maker and model, which a modified copy may have
    /// kept, and by primaries and curves.
    var isUsualSRGB: Bool {
        guard unsafe bytes.count >= Self.headerLength, unsafe bytes[48..<56].elementsEqual("IEC sRGB".utf8)
        else { return false }
        let hasColors = Self.primaries.allSatisfy { name, wanted in
            guard let found = primary(name) else { return false }
            return zip(found, wanted).allSatisfy { abs($0 - $1) <= Self.tolerance }
        }
        let hasCurves = ["rTRC", "gTRC", "bTRC"].allSatisfy { name in
            curveMiddle(name).map { abs($0 - Self.curveMiddle) <= Self.tolerance } ?? false
        }
        return hasColors && hasCurves
    }

    /// The position of the name of the profile's table for perceptual or saturated colours, if it has none
    /// for relative ones and no matrix or curve instead (§8.3); nil for every other profile.
    ///
    /// Little CMS then uses the perceptual table for the relative intent; libvips 8.14 considers the profile
    /// unsuitable.
    var placeOfOnlyTable: Int? {
        let shapers = space == "GRAY" ? ["kTRC"] : ["rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"]
        guard entry(Self.relativeTable) == nil, shapers.contains(where: { entry($0) == nil }) else {
            return nil
        }
        return entry("A2B0") ?? entry("A2B2")
    }

    /// The positions of the names of its tables with floating-point numbers (§9.2.17): a chain of elements whose number nothing
    /// bounds. Little CMS would prefer them; every such profile has other tables or a matrix, too (§8.2).
    var placesOfChains: [Int] {
        entries.filter { place in
            ["D2B0", "D2B1", "D2B2", "D2B3"].contains {
                unsafe bytes[place..<place + 4].elementsEqual($0.utf8)
            }
        }
    }

    /// The table from device colours to relative ones.
    static let relativeTable = "A2B1"

    private static let headerLength = 128
    private static let entryLength = 12
    /// The maximum number of tags; no profile has more.
    private static let tagLimit = 256
    /// The primaries red, green and blue, adapted to D50, in parts of 65,536.
    private static let primaries: [(String, [Int])] = [
        ("rXYZ", [28_578, 14_580, 912]), ("gXYZ", [25_240, 46_983, 6_363]), ("bXYZ", [9_376, 3_973, 46_802]),
    ]
    /// The linear value of middle grey, in parts of 65,535.
    private static let curveMiddle = 14_030
    /// The tolerance: copies differ in the last digits, and a curve may have no point exactly in the middle.
    private static let tolerance = 200

    /// X, Y and Z of a tag (§10.27).
    private func primary(_ name: String) -> [Int]? {
        guard let start = tag(name) else { return nil }
        let parts = [8, 12, 16].compactMap { number(start + $0) }
        return parts.count == 3 ? parts : nil
    }

    /// The middle point of a curve that is given by points (§10.5); nil for any other curve.
    private func curveMiddle(_ name: String) -> Int? {
        guard let start = tag(name), number(start) == Self.curve, let count = number(start + 8), count > 2,
            let pair = number(start + 12 + (count - 1) / 2 * 2)
        else { return nil }
        return pair >> 16
    }

    private static let curve = 0x6375_7276

    /// The position of a tag's data.
    private func tag(_ name: String) -> Int? { entry(name).flatMap { number($0 + 4) } }

    /// The position of a tag's entry in the tag table, which begins with its name.
    private func entry(_ name: String) -> Int? {
        entries.first { unsafe bytes[$0..<$0 + 4].elementsEqual(name.utf8) }
    }

    /// The positions of all tags' names.
    private var entries: some Sequence<Int> {
        let count = number(Self.headerLength).map { $0 <= Self.tagLimit ? $0 : 0 } ?? 0
        return (0..<count).lazy.map { Self.headerLength + 4 + $0 * Self.entryLength }
            .prefix { number($0 + 4) != nil }
    }

    /// Reads a big-endian number of four bytes; nil beyond the end.
    private func number(_ place: Int) -> Int? {
        unsafe bytes.number(at: place, length: 4)
    }
}
