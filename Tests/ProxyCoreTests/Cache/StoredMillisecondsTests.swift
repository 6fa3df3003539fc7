// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Cache
@testable import Freshness
@testable import Primitives

@Suite("Milliseconds of stored records")
struct StoredMillisecondsTests {
    /// A record whose times have milliseconds.
    private func timed(_ responseTime: Int64 = 1_000_000_123, initialAge: Int = 3_456) -> SourceRecord {
        var record = record()
        record.responseTime = WallTime(milliseconds: responseTime)
        record.initialAge = .milliseconds(initialAge)
        return record
    }

    private func read(_ bytes: [UInt8]) -> SourceRecord? {
        StoredRecord(bytes[...], key: key("source"), keyText: "source")?.record
    }

    @Test(
        "Response time and initial age are stored to the millisecond",
        arguments: [
            (1_000_000_123, 3_456), (1_000_000_999, 999), (1_000_000_000, 0), (0, 1), (-1, 7), (-1_500, 0),
        ] as [(Int64, Int)])
    func roundTrips(responseTime: Int64, initialAge: Int) throws {
        let record = timed(responseTime, initialAge: initialAge)
        let inFile = try #require(StoredRecord(inFile: record, generation: 1))

        #expect(read(StoredRecord(record, generation: 1).encoded()) == record)
        #expect(read(inFile.encoded()) == inFile.record)
        #expect(inFile.record.responseTime == record.responseTime)
        #expect(PortableRecord(try #require(PortableRecord(record).encoded()))?.record == record)
    }

    @Test("A record of an earlier version, without milliseconds, is read with whole seconds")
    func earlierVersion() throws {
        let stored = StoredRecord(timed(), generation: 1).encoded()
        let inFile = try #require(StoredRecord(inFile: timed(), generation: 1)).encoded()
        let zeros = [UInt8](repeating: 0, count: StoredRecord.spaceInFile - inFile.count + 4)

        let expected = timed(1_000_000_000, initialAge: 3_000)
        #expect(read(stored.dropLast(4)) == expected)
        #expect(read(inFile.dropLast(4) + zeros)?.responseTime == expected.responseTime)
        #expect(read(inFile.dropLast(4) + zeros)?.initialAge == expected.initialAge)
    }

    @Test("A record that another node of an earlier version has sent is read with whole seconds")
    func earlierNode() throws {
        let sent = try #require(PortableRecord(timed()).encoded())
        let length = StoredRecord(timed(), generation: 1).encoded().count
        var earlier = Array(sent[..<(36 + length - 4)] + sent[(36 + length)...])
        // The length of the record, and the checksum of what follows.
        earlier.replaceSubrange(12..<16, with: octets(UInt32(length - 4)))
        earlier.replaceSubrange(8..<12, with: octets(Checksum.crc32c(earlier[12...])))

        #expect(PortableRecord(earlier)?.record == timed(1_000_000_000, initialAge: 3_000))
    }

    @Test("Milliseconds beyond a second make a record invalid")
    func invalid() {
        var bytes = StoredRecord(timed(), generation: 1).encoded()
        bytes.replaceSubrange((bytes.count - 4)..<(bytes.count - 2), with: [0xE8, 0x03])

        #expect(read(bytes) == nil)
    }

    private func octets(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}
