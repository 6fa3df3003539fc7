// SPDX-License-Identifier: Apache-2.0

import Bodies
import Freshness
import Imaging
import Primitives

/// What stands before the body in an entry's file: everything that is known of it, so that the file needs no index.
///
/// Integers least significant byte first:
///
///       0   8 bytes  "imgentry"
///       8   2        version
///      10   1        kind
///      11   1        format
///      12   4        where the body begins
///      16   8        length of the body
///      24  16        key
///      40  16        the source's key
///      56  32        SHA-256 of the source
///      88  32        SHA-256 of the body
///     120   4, 4     width, height
///     128   8        stored at
///     136   4        length of the key's text
///     140   4        CRC32C of the body
///     144   4        CRC32C of all bytes before the body, with this field as 0
///     148   4        stage: how it was made, 0 for final
///     152 216        the source's record, or zeros
///     368            the key's text, then zeros up to the body
///
/// The body ends the file. Whatever of this does not hold exactly makes the file invalid as a whole. Pure.
struct DiskEntry: Equatable {
    /// The description of the entry's bytes.
    let description: EntryDescription
    /// The length of the body in bytes.
    let bodyLength: Int64
    /// The CRC32C of the body.
    let bodyChecksum: UInt32
    /// The source's record when the entry was stored, as `StoredRecord` encodes it; zeros for none.
    private let recordBytes: ArraySlice<UInt8>
    /// Where the body begins, in bytes.
    let bodyOffset: Int64

    /// The entry's identity in the tier.
    var id: EntryID { EntryID(kind: description.kind, key: description.key) }
    /// The length of the whole file in bytes.
    var fileLength: Int64 { bodyOffset + bodyLength }

    /// The length of everything before the record, in bytes.
    static let fixedLength = 152
    /// The maximum length of a key's text, in bytes.
    static let maxKeyTextLength = 64 << 10

    /// "imgentry", as it is read.
    private static let magicNumber: UInt64 = 0x7972_746E_6567_6D69
    private static let version: UInt16 = 4
    private static let checksumPlace = 144
    private static let alignment = 64
    /// No side is longer in any format, and no product of two overflows.
    private static let maxSide = UInt32(Int32.max)

    /// Where the body begins in the file of an entry with this text; nil if the text is too long.
    static func bodyOffset(keyText: String) -> Int64? {
        let length = keyText.utf8.count
        guard length <= maxKeyTextLength else { return nil }
        return Int64(
            (fixedLength + StoredRecord.spaceInFile + length + alignment - 1) / alignment * alignment)
    }

    // MARK: - Writing

    /// The bytes before the body.
    func encoded() -> [UInt8] {
        var writer = LittleEndianWriter()
        writer.append(Self.magicNumber)
        writer.append(Self.version)
        writer.append(description.kind.rawValue)
        writer.append(description.format.traits.storedCode)
        writer.append(UInt32(bodyOffset))
        writer.append(bodyLength)
        writer.append(description.key)
        writer.append(description.sourceKey)
        writer.append(contentsOf: description.sourceHash.bytes)
        writer.append(contentsOf: description.contentHash.bytes)
        writer.append(UInt32(clamping: description.width))
        writer.append(UInt32(clamping: description.height))
        writer.append(description.storedAt)
        writer.append(UInt32(description.keyText.utf8.count))
        writer.append(bodyChecksum)
        writer.append(UInt32(0))
        writer.append(UInt32(description.stage.rawValue))
        writer.append(contentsOf: recordBytes)
        writer.pad(to: Self.fixedLength + StoredRecord.spaceInFile)
        writer.append(contentsOf: description.keyText.utf8)
        writer.pad(to: Int(bodyOffset))
        writer.overwrite(Checksum.crc32c(writer.bytes), at: Self.checksumPlace)
        return writer.bytes
    }

    // MARK: - Reading

    /// How many bytes must be read to reach the body; nil if the first bytes are not those of an entry.
    static func bodyOffset(inFixedPart bytes: ArraySlice<UInt8>) -> Int? {
        var reader = LittleEndianReader(bytes)
        guard bytes.count >= fixedLength, reader.integer(UInt64.self) == magicNumber,
            reader.integer(UInt32.self) != nil, let offset = reader.integer(UInt32.self)
        else { return nil }
        let longest = fixedLength + StoredRecord.spaceInFile + maxKeyTextLength + alignment
        return (fixedLength...longest).contains(Int(offset)) ? Int(offset) : nil
    }

    /// Parses the bytes before the body; nil unless their checksum is right.
    ///
    /// - Parameters:
    ///   - bytes: the bytes before the body.
    ///   - expected: the expected text of the key, if any; if the header has it, no string is created.
    init?(header bytes: ArraySlice<UInt8>, expecting expected: String? = nil) {
        var reader = LittleEndianReader(bytes)
        guard bytes.count >= Self.fixedLength, reader.integer(UInt64.self) == Self.magicNumber,
            reader.integer(UInt16.self) == Self.version,
            let kind = reader.integer(UInt8.self).flatMap(EntryKind.init(rawValue:)),
            let format = reader.integer(UInt8.self).flatMap(ImageFormat.init(storedCode:)),
            let bodyOffset = reader.integer(UInt32.self), Int(bodyOffset) == bytes.count,
            let bodyLength = reader.integer(Int64.self),
            (0...StoredRecord.numberRange.upperBound).contains(bodyLength),
            let key = reader.key(), let sourceKey = reader.key(),
            let sourceHash = reader.contentHash(), let contentHash = reader.contentHash(),
            let width = reader.integer(UInt32.self), width <= Self.maxSide,
            let height = reader.integer(UInt32.self), height <= Self.maxSide,
            let storedAt = reader.integer(Int64.self), StoredRecord.numberRange.contains(storedAt),
            let textLength = reader.integer(UInt32.self), let bodyChecksum = reader.integer(UInt32.self),
            reader.integer(UInt32.self) == Self.checksum(of: bytes),
            let stage = reader.integer(UInt32.self).flatMap(UInt8.init(exactly:)).flatMap(
                ResultStage.init(rawValue:)),
            let recordBytes = reader.take(StoredRecord.spaceInFile),
            let text = reader.take(Int(textLength)),
            let keyText = expected?.isSpelled(text) == true ? expected : String(validOctets: text)
        else { return nil }
        description = EntryDescription(
            kind: kind, key: key, keyText: keyText, sourceKey: sourceKey, sourceHash: sourceHash,
            contentHash: contentHash, format: format, width: Int(width), height: Int(height),
            storedAt: storedAt, stage: stage)
        (self.bodyLength, self.bodyChecksum, self.recordBytes) = (bodyLength, bodyChecksum, recordBytes)
        self.bodyOffset = Int64(bodyOffset)
    }

    /// Parses a whole file; nil unless the checksums of header and body are right.
    static func parse(
        file bytes: [UInt8], expecting keyText: String? = nil
    ) -> (entry: DiskEntry, body: [UInt8])? {
        guard let offset = bodyOffset(inFixedPart: bytes[...]), offset <= bytes.count,
            let entry = DiskEntry(header: bytes[..<offset], expecting: keyText),
            entry.fileLength == Int64(bytes.count)
        else { return nil }
        let body = Array(bytes[offset...])
        return Checksum.crc32c(body) == entry.bodyChecksum ? (entry, body) : nil
    }

    /// Of all bytes before the body, its own four as 0.
    private static func checksum(of bytes: ArraySlice<UInt8>) -> UInt32 {
        let place = bytes.startIndex + checksumPlace
        let before = Checksum.crc32c([0, 0, 0, 0], continuing: Checksum.crc32c(bytes[..<place]))
        return Checksum.crc32c(bytes[(place + 4)...], continuing: before)
    }

    /// Creates the header of a body.
    init(
        description: EntryDescription, bodyLength: Int64, bodyChecksum: UInt32, record: StoredRecord? = nil
    ) {
        var bytes = record?.encoded() ?? []
        bytes += [UInt8](repeating: 0, count: StoredRecord.spaceInFile - bytes.count)
        (self.description, self.bodyLength, self.bodyChecksum) = (description, bodyLength, bodyChecksum)
        (recordBytes, bodyOffset) = (bytes[...], Self.bodyOffset(keyText: description.keyText) ?? 0)
    }

    /// The source's record, if the file has one of this generation; partial, and that of a result lacks the source's text.
    func record(of generation: UInt32) -> SourceRecord? {
        let text = description.kind == .original ? description.keyText : ""
        guard let stored = StoredRecord(recordBytes, key: description.sourceKey, keyText: text),
            stored.generation == generation
        else { return nil }
        var record = stored.record
        record.isPartial = true
        return record
    }
}

extension ImageFormat {
    /// The format with this number; nil if there is none.
    init?(storedCode: UInt8) {
        guard let format = Self.allCases.first(where: { $0.traits.storedCode == storedCode }) else {
            return nil
        }
        self = format
    }
}
