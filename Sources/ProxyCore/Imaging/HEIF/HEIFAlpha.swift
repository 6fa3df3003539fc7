// SPDX-License-Identifier: Apache-2.0

/// A HEIF file in which the transparency is turned, mirrored and cut as the picture is.
///
/// Some encoders say so of the picture alone. Decoders of browsers do the same to both; libheif leaves the transparency as it
/// lies, or out where its shape no longer fits.
enum HEIFAlpha {
    /// Bytes of a box' length and type.
    private static let headLength = 8
    /// Properties that an item can have (ISO/IEC 23008-12 §9.3.2).
    private static let entryLimit = 255

    /// Returns the file with what it lacks; nil where it lacks nothing, and where its boxes are not told in the usual way.
    ///
    /// The box that describes all items is put behind the file, and the one that was there is declared free, so that nothing
    /// that is referred to moves.
    static func completed(_ file: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let missing = unsafe HEIFItems(file)?.missingOfAlpha,
            let boxes = unsafe boxes(of: file, missing.list)
        else { return nil }
        let added = missing.entries.flatMap { entry in
            (0..<missing.list.width).reversed().map { UInt8(truncatingIfNeeded: entry >> ($0 * 8)) }
        }
        let count = unsafe Int(file[missing.list.countPlace]) + missing.entries.count
        guard count <= entryLimit else { return nil }
        var whole = unsafe Array(file)
        var meta = Array(whole[boxes[0]])
        let start = boxes[0].lowerBound
        whole.replaceSubrange(start + 4..<start + headLength, with: "free".utf8)
        for box in boxes { lengthen(&meta, box.lowerBound - start, to: box.count + added.count) }
        meta[missing.list.countPlace - start] = UInt8(count)
        meta.insert(contentsOf: added, at: missing.list.end - start)
        return whole + meta
    }

    /// Where the boxes are that the list lies in, from `meta` inwards.
    private static func boxes(
        of file: UnsafeRawBufferPointer, _ list: HEIFItems.Associations
    ) -> [Range<Int>]? {
        let all = unsafe BoxReader(file).boxes()
        // A box that goes to the end of the file would take in what is put behind it.
        guard var meta = all.first("meta"), all.allSatisfy({ unsafe isPlain($0.body, in: file) }),
            let place = unsafe plainPlace(meta, in: file), meta.skip(4) != nil,
            let properties = meta.boxes().first("iprp"),
            let propertiesPlace = unsafe plainPlace(properties, in: file)
        else { return nil }
        for box in properties.boxes() where box.type == "ipma" {
            guard let lists = unsafe plainPlace(box.body, in: file) else { return nil }
            if lists.contains(list.countPlace) { return [place, propertiesPlace, lists] }
        }
        return nil
    }

    private static func isPlain(_ body: BoxReader, in file: UnsafeRawBufferPointer) -> Bool {
        unsafe plainPlace(body, in: file) != nil
    }

    /// Where a box is whose length is told by four bytes; nil for another.
    private static func plainPlace(_ body: BoxReader, in file: UnsafeRawBufferPointer) -> Range<Int>? {
        let start = body.placeInFile - headLength
        var head = unsafe BoxReader(file)
        guard head.skip(start) != nil, head.number(4) == body.rest + headLength else { return nil }
        return start..<body.placeInFile + body.rest
    }

    private static func lengthen(_ bytes: inout [UInt8], _ place: Int, to length: Int) {
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: length >> ((3 - index) * 8)) }
    }
}
