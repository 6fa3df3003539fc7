// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Synchronization
import Testing

@testable import Bodies
@testable import Primitives

@Suite("A partial body")
struct PartialBodyTests {
    @Test("of a few bytes stays in memory, and creates no file")
    func small() async throws {
        let body = PartialBody { () throws(BodyError) in throw .storage("not wanted") }

        try append([1, 2], to: body)
        try append([3], to: body)
        body.finish()

        let content = try #require(body.content)
        guard case .bytes(let bytes) = content.body else { return #expect(Bool(false), "in memory") }
        #expect(bytes == [1, 2, 3])
        #expect(content.hash == ContentHash(of: [1, 2, 3]))
        #expect(content.checksum == checksum([1, 2, 3]))
        #expect(body.prefix == [1, 2, 3])
    }

    @Test(
        "of a declared length allocates once, and only its length",
        arguments: [20_480, 100, 65_536])
    func expected(count: Int) throws {
        let body = PartialBody { () throws(BodyError) in throw .storage("not wanted") }

        try body.expect(count)
        for start in stride(from: 0, to: count, by: 1_000) {
            try append([UInt8](repeating: 1, count: min(1_000, count - start)), to: body)
        }
        body.finish()

        guard case .bytes(let bytes) = body.content?.body else { return #expect(Bool(false), "in memory") }
        #expect(bytes == [UInt8](repeating: 1, count: count))
        #expect(bytes.capacity < count + count / 8 + 64)
    }

    @Test("may be longer or shorter than declared")
    func expectedOtherwise() throws {
        for (expected, count) in [(10, 100), (100, 10), (Int.max, 10), (0, 10)] {
            let body = PartialBody { () throws(BodyError) in try Self.memfd(offset: 0) }

            try body.expect(expected)
            try append([UInt8](repeating: 1, count: count), to: body)
            body.finish()

            #expect(body.content?.body.count == count)
        }
    }

    @Test("beyond the memory limit is refused before its first byte if no file can be created")
    func unexpected() throws {
        let body = PartialBody(configuration: limits(memory: 100, prefix: 10)) { () throws(BodyError) in
            throw .tooManyFiles
        }

        try body.expect(100)
        #expect(throws: BodyError.tooManyFiles) { try body.expect(101) }
        #expect(throws: BodyError.tooManyFiles) { try body.secureSpill() }
    }

    @Test("moves into the file created in advance, and creates no other")
    func secured() throws {
        let spills = Atomic(0)
        let body = PartialBody(configuration: limits(memory: 100, prefix: 10)) { () throws(BodyError) in
            spills.add(1, ordering: .relaxed)
            return try Self.memfd(offset: 64)
        }

        try body.secureSpill()
        try body.expect(1_000)
        try append([UInt8](repeating: 1, count: 50), to: body)
        let isInMemory = if case .bytes = body.poll(at: 0, max: 1, orWake: {}).piece { true } else { false }
        try append([UInt8](repeating: 2, count: 950), to: body)
        body.finish()

        #expect(isInMemory)
        #expect(spills.load(ordering: .relaxed) == 1)
        #expect(
            body.content?.hash
                == ContentHash(of: [UInt8](repeating: 1, count: 50) + [UInt8](repeating: 2, count: 950)))
    }

    @Test("moves into its file beyond the limit, after the file's own header")
    func spills() async throws {
        let spills = Atomic(0)
        let body = PartialBody(configuration: limits(memory: 100, prefix: 10)) { () throws(BodyError) in
            spills.add(1, ordering: .relaxed)
            return try Self.memfd(offset: 64)
        }
        let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

        for start in stride(from: 0, to: 1_000, by: 60) {
            try append(Array(bytes[start..<min(start + 60, 1_000)]), to: body)
        }
        body.finish()

        let content = try #require(body.content)
        guard case .file(_, let offset, let length) = content.body else {
            return #expect(Bool(false), "in a file")
        }
        #expect(offset == 64)
        #expect(length == 1_000)
        #expect(content.hash == ContentHash(of: bytes))
        #expect(content.checksum == checksum(bytes))
        #expect(body.prefix == Array(bytes.prefix(10)))
        #expect(spills.load(ordering: .relaxed) == 1)
        #expect(try await read(body, step: 33) == bytes)
    }

    @Test("of exactly the limit stays in memory; one byte more moves it")
    func limit() throws {
        let body = PartialBody(configuration: limits(memory: 8)) { () throws(BodyError) in
            try Self.memfd(offset: 0)
        }

        try append([UInt8](repeating: 1, count: 8), to: body)
        #expect(body.count == 8)
        try append([2], to: body)
        body.finish()

        guard case .file(_, _, let length) = body.content?.body else {
            return #expect(Bool(false), "in a file")
        }
        #expect(length == 9)
    }

    @Test("keeps its leading bytes if its first piece exceeds the limits of memory and prefix")
    func prefix() throws {
        let body = PartialBody(configuration: limits(memory: 2, prefix: 6)) { () throws(BodyError) in
            try Self.memfd(offset: 0)
        }

        try append([1, 2, 3], to: body)
        try append([4, 5], to: body)
        try append([6, 7, 8], to: body)

        #expect(body.prefix == [1, 2, 3, 4, 5, 6])
    }

    @Test("is read by several readers while it grows, each from the beginning at its own rate")
    func readers() async throws {
        let body = PartialBody(configuration: limits(memory: 1_000)) { () throws(BodyError) in
            try Self.memfd(offset: 8)
        }
        let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for step in [1, 77, 4_096, 100_000] {
                group.addTask { try await read(body, step: step) }
            }
            for start in stride(from: 0, to: bytes.count, by: 500) {
                try append(Array(bytes[start..<start + 500]), to: body)
                await Task.yield()
            }
            body.finish()
            for try await result in group { #expect(result == bytes) }
        }
    }

    @Test("that fails gives readers its bytes, then the error")
    func fails() async throws {
        let body = PartialBody { () throws(BodyError) in try Self.memfd(offset: 0) }
        try append([1, 2], to: body)

        body.fail(.incomplete)
        body.finish()

        #expect(try await body.read(at: 0, max: 10) == [1, 2])
        await #expect(throws: BodyError.incomplete) { try await body.read(at: 2, max: 10) }
        #expect(body.content == nil)
    }

    @Test("whose file can't be created fails for the writer and the readers")
    func noFile() async throws {
        let body = PartialBody(configuration: limits(memory: 1)) { () throws(BodyError) in
            throw .storage("full")
        }

        #expect(throws: BodyError.storage("full")) { try append([1, 2], to: body) }
        await #expect(throws: BodyError.storage("full")) { try await body.read(at: 0, max: 1) }
    }

    @Test("whose file can't be written fails, and shows no bytes that were not written")
    func brokenFile() async throws {
        let readOnly = open("/dev/null", O_RDONLY)
        let body = PartialBody(configuration: limits(memory: 1)) { () throws(BodyError) in
            FilePlace(file: OwnedDescriptor(owning: readOnly), offset: 0)
        }

        #expect(throws: BodyError.self) { try append([1, 2], to: body) }
        #expect(body.count == 0)
    }

    @Test("wakes each reader that waits once, and none that has left")
    func leaving() throws {
        let body = PartialBody { () throws(BodyError) in try Self.memfd(offset: 0) }
        let woken = Mutex<[Int]>([])
        let results = (0..<3).map { reader in
            body.poll(at: reader / 2, max: 1) { woken.withLock { $0.append(reader) } }
        }
        guard case .nothingYet(let leaver) = results[0] else { return #expect(Bool(false), "no byte yet") }

        body.leave(leaver)
        try append([9], to: body)
        #expect(woken.withLock { $0 } == [1])
        body.finish()

        #expect(woken.withLock { $0 } == [1, 2])
    }

    @Test("of no bytes is complete and empty")
    func empty() async throws {
        let body = PartialBody { () throws(BodyError) in throw .storage("not wanted") }

        body.finish()

        #expect(try await body.read(at: 0, max: 1) == [])
        #expect(body.content?.body.count == 0)
        #expect(body.content?.hash == ContentHash(of: []))
    }

    // MARK: - Helpers

    private func append(_ bytes: [UInt8], to body: PartialBody) throws(BodyError) {
        try bytes.withUnsafeBufferPointer { buffer throws(BodyError) in
            try body.append(UnsafeRawBufferPointer(buffer))
        }
    }

    private func read(_ body: PartialBody, step: Int) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while case let piece = try await body.read(at: bytes.count, max: step), !piece.isEmpty {
            bytes += piece
        }
        return bytes
    }

    private func limits(memory: Int, prefix: Int = 16) -> PartialBody.Configuration {
        var configuration = PartialBody.Configuration()
        configuration.memoryLimit = ByteCount(memory)
        configuration.prefixLimit = ByteCount(prefix)
        return configuration
    }

    private func checksum(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { linux_crc32c(0, $0.baseAddress, $0.count) }
    }

    private static func memfd(offset: Int64) throws(BodyError) -> FilePlace {
        let descriptor = linux_memfd_create("test")
        guard descriptor >= 0 else { throw .storage("memfd") }
        return FilePlace(file: OwnedDescriptor(owning: descriptor), offset: offset)
    }
}

extension PartialBody.PollResult {
    fileprivate var piece: StoredBody? {
        if case .piece(let piece) = self { return piece }
        return nil
    }
}

extension PartialBody {
    /// Reads up to `max` bytes as a connection does: by `poll`, again when that calls back; none at the end.
    fileprivate func read(at offset: Int, max: Int) async throws -> [UInt8] {
        while true {
            let (wakes, wake) = AsyncStream.makeStream(of: Void.self)
            switch poll(at: offset, max: max, orWake: { wake.finish() }) {
            case .piece(.bytes(let bytes)): return bytes
            case .piece(.file(let file, let start, let length)):
                return try file.readAll(from: start, count: Swift.min(max, Int(length)))
            case .nothingYet: for await _ in wakes {}
            case .end: return []
            case .failed(let error): throw error
            }
        }
    }
}
