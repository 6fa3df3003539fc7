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
        record.reuse.responseTime = WallTime(milliseconds: responseTime)
        record.reuse.initialAge = .milliseconds(initialAge)
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
        #expect(inFile.record.reuse.responseTime == record.reuse.responseTime)
        #expect(PortableRecord(try #require(PortableRecord(record).encoded()))?.record == record)
    }
}
