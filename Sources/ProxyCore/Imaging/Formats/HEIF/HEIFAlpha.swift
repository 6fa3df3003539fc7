// SPDX-License-Identifier: Apache-2.0

/// A HEIF file in which the alpha item is rotated, mirrored and cropped like the picture.
///
/// Some encoders set these properties only for the picture. Browsers' decoders apply them to both; libheif
/// leaves the alpha unchanged, or drops it if its size then differs.
enum HEIFAlpha {
    /// The number of bytes of a box's length and type.
    private static let headLength = 8
    /// The maximum number of properties of an item (ISO/IEC 23008-12 §9.3.2).
    private static let entryLimit = 255

    /// Returns the file with the missing properties; nil if none are missing, or if its boxes have an unusual
    /// form.
    ///
    /// The box with all items is appended to the file, and the old one becomes a free box, so that no other
    /// offset changes.
    static func completed(_ file: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let missing = unsafe HEIFItems(file)?.missingOfAlpha,
            let boxes = unsafe boxes(of: file, missing.list)
        else { return nil }
        let added = missing.entries.flatMap { bigEndian($0, length: missing.list.width) }
        let count = unsafe Int(file[missing.list.countPlace]) + missing.entries.count
        guard count <= entryLimit else { return nil }
        var whole = unsafe Array(file)
        var meta = Array(whole[boxes[0]])
        let start = boxes[0].lowerBound
        whole.replaceSubrange(start + 4..<start + headLength, with: "free".utf8)
        for box in boxes {
            let place = box.lowerBound - start
            meta.replaceSubrange(place..<place + 4, with: bigEndian(box.count + added.count))
        }
        meta[missing.list.countPlace - start] = UInt8(count)
        meta.insert(contentsOf: added, at: missing.list.end - start)
        return whole + meta
    }

    /// The positions of the boxes that contain the list, from `meta` inwards.
    private static func boxes(
        of file: UnsafeRawBufferPointer, _ list: HEIFItems.Associations
    ) -> [Range<Int>]? {
        let all = unsafe BoxReader(file).boxes()
        // A box that extends to the end of the file would include the appended bytes.
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

    /// The position of a box whose length is a four-byte number; nil for other boxes.
    private static func plainPlace(_ body: BoxReader, in file: UnsafeRawBufferPointer) -> Range<Int>? {
        let start = body.placeInFile - headLength
        var head = unsafe BoxReader(file)
        guard head.skip(start) != nil, head.number(4) == body.rest + headLength else { return nil }
        return start..<body.placeInFile + body.rest
    }
}
