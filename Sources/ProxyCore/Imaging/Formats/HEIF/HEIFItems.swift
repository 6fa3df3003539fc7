// SPDX-License-Identifier: Apache-2.0

/// The items of a HEIF file (ISO/IEC 23008-12 §6), as far as the daemon has to check them.
struct HEIFItems {
    private let file: BoxReader
    private(set) var types: [Int: String] = [:]
    /// The parts of each item, in order.
    var parts: [Int: [Int]] { references["dimg"] ?? [:] }
    private(set) var properties: [Int: [BoxReader.Box]] = [:]
    private var places: [Int: Place] = [:]
    private(set) var primary = 0
    /// The positions of each item's list of properties, and the boxes in it; for `HEIFAlpha`.
    private(set) var associations: [Int: Associations] = [:]
    /// By type, the items that an item refers to.
    private var references: [String: [Int: [Int]]] = [:]
    /// The data of items in the `meta` box itself.
    private var inside: BoxReader?

    /// The position of an item's data.
    private struct Place {
        let isInside: Bool
        let start: Int
        let length: Int
    }

    /// The list of an item's properties in the file.
    struct Associations: Equatable {
        /// The position of the list's length.
        let countPlace: Int
        /// The end of the list.
        let end: Int
        /// The number of bytes of an entry.
        let width: Int
        /// The entries, each a property's number and whether it is essential.
        let entries: [Int]
    }

    /// The version and the flags at the beginning of a full box.
    private struct Full {
        let version: Int
        let flags: Int
        var body: BoxReader

        init?(_ body: BoxReader?) {
            guard var reader = body, let version = reader.number(1), let flags = reader.number(3) else {
                return nil
            }
            self.version = version
            self.flags = flags
            self.body = reader
        }
    }

    /// Reads the file's `meta` box; nil without a readable one.
    ///
    /// - Parameter bytes: must exist as long as the items.
    init?(_ bytes: UnsafeRawBufferPointer) {
        file = unsafe BoxReader(bytes)
        guard let meta = Full(file.boxes().first("meta")) else { return nil }
        let boxes = meta.body.boxes()
        guard readTypes(boxes), readProperties(boxes) else { return nil }
        readReferences(boxes)
        readPlaces(boxes)
        inside = boxes.first("idat")
        if var pitm = Full(boxes.first("pitm")) {
            primary = pitm.body.number(pitm.version == 0 ? 2 : 4) ?? 0
        }
    }

    // MARK: - Queries

    /// Whether the tiles of every grid have one size and fill it: libheif leaves the rest as uninitialized
    /// memory.
    var gridsAreFilled: Bool {
        types.allSatisfy { item, type in type != "grid" || isFilled(item) }
    }

    private func isFilled(_ item: Int) -> Bool {
        guard let grid = grid(item), let tiles = parts[item], tiles.count == grid.rows * grid.columns,
            let first = tiles.first.flatMap(size)
        else { return false }
        return tiles.allSatisfy { size($0) == first } && first.width * grid.columns >= grid.size.width
            && first.height * grid.rows >= grid.size.height
    }

    /// ISO/IEC 23008-12 §6.6.2.3.2.
    private func grid(_ item: Int) -> (rows: Int, columns: Int, size: PixelSize)? {
        guard var data = data(of: item), data.skip(1) != nil, let flags = data.number(1),
            let rows = data.number(1),
            let columns = data.number(1), let width = data.number(flags & 1 == 1 ? 4 : 2),
            let height = data.number(flags & 1 == 1 ? 4 : 2)
        else { return nil }
        return (rows + 1, columns + 1, PixelSize(width, height))
    }

    /// An item's bytes, if they are contiguous.
    func data(of item: Int) -> BoxReader? {
        guard let place = places[item] else { return nil }
        return (place.isInside ? inside : file)?.part(from: place.start, length: place.length)
    }

    private func size(_ item: Int) -> PixelSize? {
        guard var ispe = Full(properties[item]?.first("ispe")), let width = ispe.body.number(4),
            let height = ispe.body.number(4)
        else { return nil }
        return PixelSize(width, height)
    }

    /// The alpha item of the primary picture, if there is one (ISO/IEC 23000-22 §7.3.5.2).
    var alphaOfPrimary: Int? {
        let auxiliaries = references["auxl"]?.filter { $0.value.contains(primary) }.keys ?? [:].keys
        return auxiliaries.sorted().first { item in
            guard var kind = Full(properties[item]?.first("auxC")) else { return false }
            return kind.body.text().map(Self.alphaTypes.contains) ?? false
        }
    }

    private static let alphaTypes: Set<String> = [
        "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1",
    ]

    /// Whether the primary picture's colours are already multiplied by its alpha (ISO/IEC 23008-12 §6.6.3).
    var isPremultiplied: Bool {
        guard let alpha = alphaOfPrimary else { return false }
        return references["prem"]?[primary]?.contains(alpha) ?? false
    }

    /// The rotation, mirroring and cropping of the primary picture that its alpha item lacks: the incomplete
    /// list, and the missing entries. Browsers' decoders apply the picture's properties to both.
    var missingOfAlpha: (list: Associations, entries: [Int])? {
        guard let alpha = alphaOfPrimary, let list = associations[alpha], size(alpha) == size(primary),
            let own = associations[primary], list.width == own.width,
            let listed = properties[primary], listed.count == own.entries.count
        else { return nil }
        let changes = zip(own.entries, listed).filter { Self.changes.contains($1.type) }
        let has = (properties[alpha] ?? []).contains { Self.changes.contains($0.type) }
        return changes.isEmpty || has ? nil : (list, changes.map(\.0))
    }

    static let changes: Set<String> = ["clap", "irot", "imir"]

    // MARK: - Reading

    private mutating func readTypes(_ boxes: [BoxReader.Box]) -> Bool {
        guard var iinf = Full(boxes.first("iinf")), iinf.body.skip(iinf.version == 0 ? 2 : 4) != nil else {
            return false
        }
        for box in iinf.body.boxes() where box.type == "infe" {
            guard var entry = Full(box.body), entry.version >= 2,
                let item = entry.body.number(entry.version == 2 ? 2 : 4), entry.body.skip(2) != nil,
                let type = entry.body.code()
            else { continue }
            types[item] = type
        }
        return true
    }

    private static let referenceTypes: Set<String> = ["dimg", "auxl", "prem"]

    private mutating func readReferences(_ boxes: [BoxReader.Box]) {
        guard let iref = Full(boxes.first("iref")) else { return }
        let width = iref.version == 0 ? 2 : 4
        for box in iref.body.boxes() where Self.referenceTypes.contains(box.type) {
            var reader = box.body
            guard let item = reader.number(width), let count = reader.number(2), count * width <= reader.rest
            else { continue }
            references[box.type, default: [:]][item] = (0..<count).compactMap { _ in reader.number(width) }
        }
    }

    private mutating func readProperties(_ boxes: [BoxReader.Box]) -> Bool {
        guard let iprp = boxes.first("iprp")?.boxes(), let all = iprp.first("ipco")?.boxes() else {
            return false
        }
        for box in iprp where box.type == "ipma" {
            guard var ipma = Full(box.body), let count = ipma.body.number(4) else { return false }
            let width = ipma.flags & 1 == 1 ? 2 : 1
            for _ in 0..<count {
                guard let item = ipma.body.number(ipma.version == 0 ? 2 : 4) else { return false }
                let countPlace = ipma.body.placeInFile
                guard let held = ipma.body.number(1), held * width <= ipma.body.rest else { return false }
                let entries = (0..<held).compactMap { _ in ipma.body.number(width) }
                // The highest bit marks an essential property.
                let indices = entries.map { ($0 & (width == 2 ? 0x7FFF : 0x7F)) - 1 }
                properties[item, default: []] += indices.filter(all.indices.contains).map { all[$0] }
                associations[item] = Associations(
                    countPlace: countPlace, end: ipma.body.placeInFile, width: width, entries: entries)
            }
        }
        return true
    }

    /// Stores only items of one extent: the daemon reads a few bytes of one.
    private mutating func readPlaces(_ boxes: [BoxReader.Box]) {
        guard var iloc = Full(boxes.first("iloc")), let sizes = iloc.body.number(1),
            let others = iloc.body.number(1), let count = iloc.body.number(iloc.version < 2 ? 2 : 4)
        else { return }
        let indexWidth = iloc.version == 0 ? 0 : others & 15
        for _ in 0..<count {
            guard let item = iloc.body.number(iloc.version < 2 ? 2 : 4),
                let method = iloc.version == 0 ? 0 : iloc.body.number(2), iloc.body.skip(2) != nil,
                let base = iloc.body.number(others >> 4), let extents = iloc.body.number(2)
            else { return }
            for extent in 0..<extents {
                guard iloc.body.skip(indexWidth) != nil, let start = iloc.body.number(sizes >> 4),
                    let length = iloc.body.number(sizes & 15)
                else { return }
                let (sum, overflows) = base.addingReportingOverflow(start)
                guard extent == 0, extents == 1, !overflows, method & 15 < 2 else { continue }
                places[item] = Place(isInside: method & 15 == 1, start: sum, length: length)
            }
        }
    }
}
