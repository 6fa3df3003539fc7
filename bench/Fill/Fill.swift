// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness
import Glibc
import Imaging
import Primitives
import Request
import URLs

/// Fills a cache folder with many small originals and their records through the disk tier: `bench-fill FOLDER
/// COUNT BYTES URL`. The picture with number n belongs to `URL` + n + `.jpg`, and begins like a JPEG.
@main
enum Fill {
    /// The number of concurrent stores: enough for the tier to write full batches.
    private static let atOnce = 512

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let count = Int(arguments[2]), let bytes = Int(arguments[3]) else {
            print("usage: bench-fill FOLDER COUNT BYTES URL")
            exit(64)
        }
        var configuration = DiskCacheConfiguration()
        configuration.maxBytes = .gibibytes(1 << 10)
        let disk = try DiskCache(directory: arguments[1], configuration: configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= atOnce { try await group.next() }
                group.addTask { try await store(number, of: bytes, from: arguments[4], in: disk) }
            }
            try await group.waitForAll()
        }
        print("\(disk.statistics.tally.entries) entries")
        await disk.close()
    }

    private static func store(
        _ number: Int, of bytes: Int, from base: String, in disk: DiskCache
    ) async throws {
        let source = try SourceURL(parsing: "\(base)\(number).jpg")
        let request = ImageRequest(source: source, plan: nil)
        let body = picture(number, bytes)
        let hash = ContentHash(of: body)
        let now = SystemTime.seconds()
        let record = SourceRecord(
            key: request.sourceKey, keyText: request.sourceKeyText, contentHash: hash, byteCount: bytes,
            format: .jpeg, responseTime: WallTime(seconds: now), freshnessLifetime: 30 * 86_400,
            directives: .explicitLifetime)
        let description = EntryDescription(
            kind: .original, key: request.sourceKey, keyText: request.sourceKeyText,
            sourceKey: request.sourceKey, sourceHash: hash, contentHash: hash, format: .jpeg, storedAt: now)
        try await disk.save(record)
        try await disk.store(description, body: body, record: record)
    }

    /// Bytes after the first of a JPEG, which differ for each number.
    private static func picture(_ number: Int, _ count: Int) -> [UInt8] {
        var state = UInt64(number) &* 0x9E37_79B9_7F4A_7C15 | 1
        var body: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0]
        body.reserveCapacity(count)
        while body.count < count {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            body.append(UInt8(truncatingIfNeeded: state >> 32))
        }
        return body
    }
}
