// SPDX-License-Identifier: Apache-2.0

import Bodies
package import Freshness
import Primitives

/// An entry in the form in which machines exchange it: the file of the disk tier, without a record of its source. Pure.
package struct PortableEntry: Sendable {
    /// The description of the entry's bytes.
    package var description: EntryDescription
    /// The entry's bytes.
    package let body: [UInt8]
    /// The CRC32C of the bytes.
    package let checksum: UInt32

    /// Combines bytes with their description.
    package init(_ description: EntryDescription, body: [UInt8]) {
        (self.description, self.body) = (description, body)
        checksum = Checksum.crc32c(body)
    }

    /// All bytes; nil if the key's text is too long for a file.
    package func encoded() -> [UInt8]? {
        guard DiskEntry.bodyOffset(keyText: description.keyText) != nil else { return nil }
        let header = DiskEntry(
            description: description, bodyLength: Int64(body.count), bodyChecksum: checksum)
        return header.encoded() + body
    }

    /// The maximum number of bytes before the body.
    package static let maxHeaderBytes =
        DiskEntry.fixedLength + StoredRecord.spaceInFile + DiskEntry.maxKeyTextLength + 64

    /// Parses what `encoded` returned: O(n), since checksum and SHA-256 of the body are compared.
    ///
    /// Nil unless all of it holds: another machine may have altered or confused it.
    package init?(_ bytes: [UInt8]) {
        guard let (entry, body) = DiskEntry.parse(file: bytes),
            entry.description.kind == .intermediate || ContentHash(of: body) == entry.description.contentHash
        else { return nil }
        (description, self.body, checksum) = (entry.description, body, entry.bodyChecksum)
    }
}

/// A source's record in the form in which machines exchange it. Pure.
///
/// Integers least significant byte first: 8 bytes "imgsour2"; 4 bytes, the CRC32C of all that follows them; 4 bytes, the length
/// of the record; 4 bytes, that of the key's text; 16 bytes, the key; the record as `StoredRecord` encodes it; the key's text.
package struct PortableRecord: Sendable {
    /// The record. Its times are those of the machine that encoded it.
    package let record: SourceRecord

    /// "imgsour2", as it is read.
    private static let magicNumber: UInt64 = 0x3272_756F_7367_6D69
    private static let fixedLength = 36
    /// The maximum number of bytes.
    package static let maxBytes = 256 << 10
    /// Of another machine's record; no index has it.
    private static let generation: UInt32 = 1

    /// Wraps a record.
    package init(_ record: SourceRecord) { self.record = record }

    /// All bytes; nil if they are more than `maxBytes`.
    package func encoded() -> [UInt8]? {
        let stored = StoredRecord(record, generation: Self.generation).encoded()
        var writer = LittleEndianWriter()
        writer.append(Self.magicNumber)
        writer.append(UInt32(0))
        writer.append(UInt32(stored.count))
        writer.append(UInt32(record.keyText.utf8.count))
        writer.append(record.key)
        writer.append(contentsOf: stored)
        writer.append(contentsOf: record.keyText.utf8)
        guard writer.bytes.count <= Self.maxBytes else { return nil }
        writer.overwrite(Checksum.crc32c(writer.bytes[12...]), at: 8)
        return writer.bytes
    }

    /// Parses what `encoded` returned; nil unless all of it holds.
    package init?(_ bytes: [UInt8]) {
        var reader = LittleEndianReader(bytes[...])
        guard bytes.count > Self.fixedLength, reader.integer(UInt64.self) == Self.magicNumber,
            reader.integer(UInt32.self) == Checksum.crc32c(bytes[12...]),
            let recordLength = reader.integer(UInt32.self), let textLength = reader.integer(UInt32.self),
            let key = reader.key(), let stored = reader.take(Int(recordLength)),
            let text = reader.take(Int(textLength)),
            bytes.count == Self.fixedLength + Int(recordLength) + Int(textLength),
            let keyText = String(validOctets: text),
            let record = StoredRecord(stored, key: key, keyText: keyText)?.record
        else { return nil }
        self.record = record
    }
}
