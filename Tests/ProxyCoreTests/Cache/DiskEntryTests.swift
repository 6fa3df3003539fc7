// SPDX-License-Identifier: Apache-2.0

import CLinux
import Testing

@testable import Cache

@Suite("Entry files")
struct DiskEntryTests {
    private func entry(_ text: String = "key text") -> DiskEntry {
        let body = bytes(50)
        return DiskEntry(
            description: describe(text, kind: .original, body: body), bodyLength: 50,
            bodyChecksum: Checksum.crc32c(body), record: StoredRecord(inFile: record(), generation: 1))
    }

    @Test("A header is read back as it was written", arguments: [0, 1, 39, 40, 41, 1_000, 65_536])
    func roundTrips(textLength: Int) throws {
        let entry = entry(String(repeating: "x", count: textLength))

        let header = entry.encoded()

        #expect(Int64(header.count) == entry.bodyOffset)
        #expect(DiskEntry.bodyOffset(inFixedPart: header[...]) == header.count)
        #expect(DiskEntry(header: header[...]) == entry)
        let text = entry.description.keyText
        #expect(DiskEntry(header: header[...], expecting: text) == entry)
        for other in ["", text + "a", String(text.dropLast()) + "\u{1}"] where other != text {
            #expect(DiskEntry(header: header[...], expecting: other) == entry)
        }
    }

    @Test("A header says how its result was made")
    func stages() {
        for number in UInt8(0)...3 {
            var description = describe("key text", kind: .result, body: bytes(50))
            description.stage = ResultStage(rawValue: number) ?? .final
            let entry = DiskEntry(description: description, bodyLength: 50, bodyChecksum: 1)

            let header = entry.encoded()

            #expect(header[148..<152] == [number, 0, 0, 0])
            #expect(DiskEntry(header: header[...])?.description.stage.rawValue == number)
        }
        #expect(ResultStage(rawValue: 4) == nil)
    }

    @Test("Every flipped bit of a header makes it invalid")
    func recognisesFlips() {
        let header = entry().encoded()

        for place in 0..<header.count * 8 {
            var flipped = header
            flipped[place / 8] ^= 1 << (place % 8)
            #expect(DiskEntry(header: flipped[...]) == nil, "bit \(place)")
        }
    }

    @Test("A header truncated or extended at any place is invalid")
    func recognisesLengths() {
        let header = entry().encoded()

        for length in 0..<header.count { #expect(DiskEntry(header: header[..<length]) == nil) }
        #expect(DiskEntry(header: (header + [0])[...]) == nil)
    }

    @Test("A header with numbers beyond all pictures and times is invalid, so that none can overflow")
    func recognisesNumbers() {
        let entry = entry()
        func isValid(bodyLength: Int64 = 50, _ change: (inout EntryDescription) -> Void = { _ in }) -> Bool {
            var description = entry.description
            change(&description)
            let altered = DiskEntry(description: description, bodyLength: bodyLength, bodyChecksum: 1)
            return DiskEntry(header: altered.encoded()[...]) != nil
        }

        #expect(isValid())
        for time in [Int64.min, .max, 1 << 51, -1 << 51] {
            #expect(!isValid { $0.storedAt = time }, "\(time)")
        }
        for length in [Int64.max, -1, 1 << 51] { #expect(!isValid(bodyLength: length), "\(length)") }
        #expect(!isValid { $0.width = 1 << 31 } && !isValid { $0.height = Int(UInt32.max) })
    }

    @Test("A text too long for a header is refused")
    func boundsText() {
        #expect(DiskEntry.bodyOffset(keyText: String(repeating: "x", count: 65_537)) == nil)
    }

    @Test("The checksum is CRC32C (RFC 3720 B.4)")
    func checksumIsCastagnoli() {
        #expect(Checksum.crc32c(Array("123456789".utf8)) == 0xE306_9283)
        #expect(Checksum.crc32c([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
    }
    /// The definition, bit by bit.
    private func castagnoli(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0x82F6_3B78 : sum >> 1 }
        }
    }

    @Test(
        "The checksum of blocks that are computed at the same time is that of all their bytes",
        arguments: [1, 8, 1024, 3071, 3072, 3073, 3080, 6143, 6144, 9999])
    func checksumOfBlocks(count: Int) {
        let all = (0..<count + 3).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 &+ $0 >> 3) }

        for start in [0, 1, 3] {
            let part = all[start..<start + count]
            #expect(Checksum.crc32c(Array(part)) == castagnoli(part))
        }
    }

    @Test("A checksum that is continued is that of all bytes", arguments: [1, 3072, 5000])
    func checksumContinues(first: Int) {
        let all = (0..<9000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 5) }

        let begun = all.withUnsafeBytes { linux_crc32c(0, $0.baseAddress, first) }
        let whole = all.withUnsafeBytes { bytes in
            linux_crc32c(begun, bytes.baseAddress.map { $0 + first }, bytes.count - first)
        }

        #expect(whole == castagnoli(all[...]))
    }
}
