// SPDX-License-Identifier: Apache-2.0

import Bodies
import Freshness
import Imaging
import Primitives

/// A source's record as it is stored: in a row of the index, and in the files of the source's entries, so that a fresh
/// picture is answered from its file alone. Pure.
///
/// Integers least significant byte first, sizes in bytes:
///
///       0   4  generation
///       4   4  directives
///       8   4  directives for other caches
///      12   2  status
///      14   1  format
///      15   1  which of the optional members are there
///      16  32  content hash
///      48  96  twelve numbers of 8 bytes, `Int64.min` for none
///     144  16  hash of the final URL
///     160  12  lengths of the three texts, then the texts
///
/// Key and key's text are stored beside it.
struct StoredRecord: Equatable {
    /// The index's generation when it was stored; never 0.
    let generation: UInt32
    let record: SourceRecord

    /// The space for it in a file, in bytes.
    static let spaceInFile = 216
    /// Bytes without the texts.
    private static let fixedLength = 48 + 14 * 8 + 3 * 4
    /// Numbers that can be added and subtracted without an overflow, whatever an altered page contains.
    static let numberRange: ClosedRange<Int64> = -(1 << 50)...(1 << 50)
    private static let isRedirected: UInt8 = 1
    private static let isTargeted: UInt8 = 2

    init(_ record: SourceRecord, generation: UInt32) {
        (self.record, self.generation) = (record, generation)
    }

    /// What a file contains, without what only a revalidation needs; nil if that does not fit, or if the record is
    /// of a read-only folder.
    init?(inFile record: SourceRecord, generation: UInt32) {
        guard generation != 0, !record.reuse.directives.contains(.inReadOnlyFolder),
            Self.fixedLength + (record.reuse.lastModified?.utf8.count ?? 0) <= Self.spaceInFile
        else { return nil }
        var record = record
        (record.reuse.entityTag, record.reuse.reuseFields, record.finalURL) = (nil, [], nil)
        self.init(record, generation: generation)
    }

    /// The bytes.
    func encoded() -> [UInt8] {
        var writer = LittleEndianWriter()
        writer.append(generation)
        writer.append(record.reuse.directives.rawValue)
        writer.append(record.reuse.untargeted?.directives.rawValue ?? 0)
        writer.append(UInt16(clamping: record.reuse.status))
        writer.append(record.format.traits.storedCode)
        writer.append(
            (record.finalURL == nil ? 0 : Self.isRedirected)
                | (record.reuse.untargeted == nil ? 0 : Self.isTargeted))
        writer.append(contentsOf: record.contentHash.bytes)
        let other = record.reuse.untargeted
        for number in [
            Int64(record.byteCount), record.reuse.responseTime.milliseconds,
            Int64(record.reuse.initialAge.milliseconds),
            record.reuse.freshnessLifetime, record.reuse.staleWhileRevalidate, record.reuse.staleIfError,
            record.reuse.browserLifetime, record.reuse.statedDate,
            other?.lifetime, other?.browserLifetime, other?.staleWhileRevalidate, other?.staleIfError,
        ] {
            writer.append(number ?? .min)
        }
        writer.append(record.finalURL ?? CacheKey(high: 0, low: 0))
        let fields = record.reuse.reuseFields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        let texts = [record.reuse.entityTag, record.reuse.lastModified, fields.isEmpty ? nil : fields]
        for text in texts { writer.append(text.map { UInt32($0.utf8.count) } ?? .max) }
        for text in texts { writer.append(contentsOf: (text ?? "").utf8) }
        return writer.bytes
    }

    /// Parses what `encoded` returned, and maybe bytes after it; nil for zeros or invalid bytes, and for a text that is no
    /// field's value: origins and clients get it as one.
    init?(_ bytes: ArraySlice<UInt8>, key: CacheKey, keyText: String) {
        var reader = LittleEndianReader(bytes)
        guard let generation = reader.integer(UInt32.self), generation != 0,
            let directives = reader.integer(UInt32.self), let otherDirectives = reader.integer(UInt32.self),
            let status = reader.integer(UInt16.self),
            let format = reader.integer(UInt8.self).flatMap(ImageFormat.init(storedCode:)),
            let members = reader.integer(UInt8.self), let hash = reader.contentHash(),
            let byteCount = reader.number(), let responseTime = reader.number(),
            let initialAge = reader.number(), let lifetime = reader.number(),
            let whileRevalidate = reader.optionalNumber(), let ifError = reader.optionalNumber(),
            let browserLifetime = reader.optionalNumber(), let statedDate = reader.optionalNumber(),
            let otherLifetime = reader.optionalNumber(), let otherBrowserLifetime = reader.optionalNumber(),
            let otherWhileRevalidate = reader.optionalNumber(), let otherIfError = reader.optionalNumber(),
            let finalURL = reader.key(), let tagLength = reader.integer(UInt32.self),
            let modifiedLength = reader.integer(UInt32.self), let fieldsLength = reader.integer(UInt32.self),
            let entityTag = reader.text(tagLength), let lastModified = reader.text(modifiedLength),
            let fields = reader.text(fieldsLength),
            [entityTag, lastModified].allSatisfy({ $0?.isFieldValue != false })
        else { return nil }
        var record = SourceRecord(
            key: key, keyText: keyText, contentHash: hash, byteCount: Int(byteCount), format: format,
            entityTag: entityTag, lastModified: lastModified,
            responseTime: WallTime(milliseconds: responseTime),
            initialAge: .milliseconds(Int(initialAge)), freshnessLifetime: lifetime,
            directives: SourceRecord.Directives(rawValue: directives), staleWhileRevalidate: whileRevalidate,
            staleIfError: ifError)
        (record.reuse.browserLifetime, record.reuse.statedDate, record.reuse.status) = (
            browserLifetime, statedDate, Int(status)
        )
        if members & Self.isRedirected != 0 { record.finalURL = finalURL }
        if members & Self.isTargeted != 0 {
            guard let otherLifetime else { return nil }
            record.reuse.untargeted = DownstreamControl(
                lifetime: otherLifetime, browserLifetime: otherBrowserLifetime,
                directives: SourceRecord.Directives(rawValue: otherDirectives),
                staleWhileRevalidate: otherWhileRevalidate, staleIfError: otherIfError)
        }
        for line in fields?.split(separator: "\n") ?? [] {
            guard let colon = line.firstIndex(of: ":"), line[..<colon].isToken, line.isFieldValue else {
                return nil
            }
            record.reuse.reuseFields.append(
                HeaderField(name: String(line[..<colon]), value: String(line[colon...].dropFirst(2))))
        }
        self.init(record, generation: generation)
    }
}

extension LittleEndianReader {
    /// The next 32 bytes as a content hash; nil if there are fewer.
    mutating func contentHash() -> ContentHash? {
        guard let first = integer(UInt64.self), let second = integer(UInt64.self),
            let third = integer(UInt64.self), let fourth = integer(UInt64.self)
        else { return nil }
        return ContentHash(words: first, second, third, fourth)
    }

    /// The next number of seconds or bytes; nil if it is none that was written.
    fileprivate mutating func number() -> Int64? {
        integer(Int64.self).flatMap { StoredRecord.numberRange.contains($0) ? $0 : nil }
    }

    /// The same, or that there is none.
    fileprivate mutating func optionalNumber() -> Int64?? {
        guard let number = integer(Int64.self) else { return nil }
        if number == .min { return .some(nil) }
        return StoredRecord.numberRange.contains(number) ? .some(number) : nil
    }

    /// A text of so many bytes, or that there is none; nil if it is not valid.
    fileprivate mutating func text(_ count: UInt32) -> String?? {
        if count == .max { return .some(nil) }
        guard let bytes = take(Int(count)), let text = String(validOctets: bytes) else { return nil }
        return .some(text)
    }
}
