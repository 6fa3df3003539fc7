// SPDX-License-Identifier: Apache-2.0

import Freshness
import Imaging
import Primitives

/// What an entry's file holds of its source's record, so that a fresh picture is answered from the file alone.
///
/// As the record was when the entry was stored. It counts only in the index's generation in which it was made, and while no
/// later record of the source is known; what only a revalidation needs is left out. Pure.
///
/// 112 bytes, integers least significant byte first: generation (4), directives (4), the source's format (1), length of
/// `Last-Modified` (1), 0 (2), then in 8 bytes each time of response, initial age, lifetime, `stale-while-revalidate` and
/// `stale-if-error` (−1 for none) and the source's length; then `Last-Modified` (36), filled up with zeros, and in 8 bytes
/// each the browsers' lifetime and 1 (0 where it is that of shared caches) and the origin's `Date` where age and arrival do
/// not tell it (0 where they do).
struct RecordSnapshot: Equatable {
    /// The index's generation when it was made; never 0, which stands for no snapshot.
    let generation: UInt32
    let directives: SourceRecord.Directives
    let format: ImageFormat
    let responseTime: Int64
    let initialAge: Int64
    let freshnessLifetime: Int64
    let staleWhileRevalidate: Int64?
    let staleIfError: Int64?
    let byteCount: Int
    let lastModified: String?
    /// Seconds since 1970.
    let made: Int64?
    let browserLifetime: Int64?

    /// Its size in a file, in bytes.
    static let length = 112
    private static let maxDateLength = 36

    /// The snapshot of a record; nil if that does not fit.
    init?(of record: SourceRecord, generation: UInt32) {
        guard generation != 0, !record.directives.contains(.inReadOnlyFolder), record.untargeted == nil,
            record.lastModified?.utf8.count ?? 0 <= Self.maxDateLength,
            record.staleWhileRevalidate ?? 0 >= 0, record.staleIfError ?? 0 >= 0, record.statedDate != 0,
            (0..<Int64.max).contains(record.browserLifetime ?? 0)
        else { return nil }
        self.generation = generation
        directives = record.directives
        format = record.format
        responseTime = record.responseTime
        initialAge = record.initialAge
        freshnessLifetime = record.freshnessLifetime
        staleWhileRevalidate = record.staleWhileRevalidate
        staleIfError = record.staleIfError
        byteCount = record.byteCount
        lastModified = record.lastModified
        made = record.statedDate
        browserLifetime = record.browserLifetime
    }

    /// The record as far as it is included: without entity tag, fields for a 304 but `Date`, and the source's
    /// text.
    func record(of entry: EntryDescription) -> SourceRecord {
        var record = SourceRecord(
            key: entry.sourceKey, keyText: entry.kind == .original ? entry.keyText : "",
            contentHash: entry.sourceHash, byteCount: byteCount, format: format, lastModified: lastModified,
            responseTime: responseTime, initialAge: initialAge, freshnessLifetime: freshnessLifetime,
            directives: directives, staleWhileRevalidate: staleWhileRevalidate, staleIfError: staleIfError)
        record.statedDate = made
        record.browserLifetime = browserLifetime
        return record
    }

    // MARK: - As bytes

    func append(to writer: inout LittleEndianWriter) {
        let end = writer.bytes.count + Self.length - 2 * Int64.bitWidth / 8
        writer.append(generation)
        writer.append(directives.rawValue)
        writer.append(format.row.storedCode)
        writer.append(UInt8(lastModified?.utf8.count ?? 0))
        writer.append(UInt16(0))
        for number in [
            responseTime, initialAge, freshnessLifetime, staleWhileRevalidate ?? -1, staleIfError ?? -1,
            Int64(byteCount),
        ] {
            writer.append(number)
        }
        writer.append(contentsOf: (lastModified ?? "").utf8)
        writer.pad(to: end)
        writer.append(browserLifetime.map { $0 + 1 } ?? 0)
        writer.append(made ?? 0)
    }

    /// Parses what `append` wrote; nil for zeros, or invalid bytes.
    init?(_ bytes: ArraySlice<UInt8>) {
        var reader = LittleEndianReader(bytes)
        guard let generation = reader.integer(UInt32.self), generation != 0,
            let bits = reader.integer(UInt32.self),
            let format = reader.integer(UInt8.self).flatMap(ImageFormat.init(storedCode:)),
            let dateLength = reader.integer(UInt8.self), dateLength <= Self.maxDateLength,
            reader.integer(UInt16.self) == 0,
            let responseTime = reader.integer(Int64.self), let initialAge = reader.integer(Int64.self),
            let lifetime = reader.integer(Int64.self), let whileRevalidate = reader.integer(Int64.self),
            let ifError = reader.integer(Int64.self), let byteCount = reader.integer(Int64.self),
            let date = reader.take(Int(dateLength)).flatMap(String.init(validOctets:)),
            reader.take(Self.maxDateLength - Int(dateLength)) != nil,
            let browsers = reader.integer(Int64.self), browsers >= 0, let made = reader.integer(Int64.self)
        else { return nil }
        self.generation = generation
        directives = SourceRecord.Directives(rawValue: bits)
        self.format = format
        self.responseTime = responseTime
        self.initialAge = initialAge
        freshnessLifetime = lifetime
        staleWhileRevalidate = whileRevalidate < 0 ? nil : whileRevalidate
        staleIfError = ifError < 0 ? nil : ifError
        self.byteCount = Int(byteCount)
        lastModified = date.isEmpty ? nil : date
        self.made = made == 0 ? nil : made
        browserLifetime = browsers == 0 ? nil : browsers - 1
    }
}
