// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Loading
@testable import Origins
@testable import Primitives
@testable import Sharing
@testable import URLs

/// One store for all tests of the suite; each has a bucket of its own.
private let running = Result { try TestSupport.ObjectStore() }

@Suite("Exchanges with a real object store")
struct ObjectStoreExchangeTests {
    private let server: TestSupport.ObjectStore
    private let folder: TemporaryDirectory

    init() throws {
        server = try running.get()
        folder = try TemporaryDirectory()
        try folder.write(Array("testing\n".utf8), to: "secret")
        try folder.write(Array("other\n".utf8), to: "wrong")
    }

    private func store(
        _ bucket: String, prefix: String = "", secret: String = "secret", isThere: Bool = true
    ) async throws -> Sharing.ObjectStore {
        if isThere { try await server.put([1], as: ["\(bucket)/first"]) }
        var configuration = SharedConfiguration()
        var place = OriginRuleConfiguration.Bucket()
        (place.url, place.endpoint, place.region) = ("s3://\(bucket)/", server.url, "us-east-1")
        configuration.bucket = place
        configuration.prefix = prefix
        var keys = OriginRuleConfiguration.AWSCredentials()
        keys.accessKey = .literal("test:tester")
        keys.secretKey = .file("\(folder.path)/\(secret)")
        configuration.auth = .awsSigV4(keys)
        let loader = try CurlLoader(
            configuration: SharedTier.loaderConfiguration(configuration, maxEntryBytes: 32 << 20),
            addresses: .unrestricted)
        let read = try StorePlace(configuration, secrets: SecretReader(credentialsDirectory: nil))
        return Sharing.ObjectStore(configuration, at: try #require(read), loader: loader)
    }

    @Test("An object is stored, read with its age and metadata, replaced, and deleted")
    func single() async throws {
        let store = try await store("single", prefix: "a/b/")

        try await store.put("ab/s/1", [1, 2, 3], metadata: ["age": "7", "tags": "cmVk"])
        let found = try #require(try await store.get("ab/s/1", atMost: 100))
        try await store.put("ab/s/1", [4])
        let replaced = try await store.get("ab/s/1", atMost: 100)
        try await store.delete(["ab/s/1"])

        #expect(found.content == [1, 2, 3] && found.metadata["age"] == "7" && found.tags == ["red"])
        #expect((0...60).contains(found.age) && abs(store.clock.now - found.storedAt) <= 60)
        #expect(replaced?.content == [4])
        #expect(try await store.get("ab/s/1", atMost: 100) == nil)
        try await store.delete(["ab/s/1"])
    }

    @Test("Objects are listed in the order of their names, page by page, without the prefix")
    func listing() async throws {
        let store = try await store("listing", prefix: "x/")
        let names = ["p/2-a-s", "p/1-b-t_", "p/3-c-a", "q/1"]
        for name in names { try await store.put(name, []) }

        let all = try await store.list("p/")
        let rest = try await store.list("p/", after: "p/1-b-t_")

        #expect(all.objects.map(\.name) == ["p/1-b-t_", "p/2-a-s", "p/3-c-a"] && !all.isCut)
        #expect(rest.objects.map(\.name) == ["p/2-a-s", "p/3-c-a"])
        #expect(all.objects.allSatisfy { abs($0.storedAt - store.clock.now) <= 60 })
    }

    @Test("Many objects are deleted by one request")
    func many() async throws {
        let store = try await store("many")
        let names = (0..<5).map { "ab/r/\($0)" }
        for name in names { try await store.put(name, [1]) }

        try await store.delete(names + ["ab/r/missing"])

        #expect(try await store.list("ab/").objects.isEmpty)
        #expect(store.counters.snapshot.requests[.delete] == [.ok: 1])
    }

    @Test("A large object is sent in parts, and is there as a whole")
    func parts() async throws {
        let store = try await store("parts")
        let content = (0..<(2 * Sharing.ObjectStore.partBytes + 5)).map {
            UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8)
        }

        try await store.put("ab/o/1", content, metadata: ["age": "1"])
        let found = try #require(try await store.get("ab/o/1", atMost: 32 << 20))

        let isWhole = found.content == content
        #expect(isWhole && found.metadata["age"] == "1")
    }

    @Test("A trial of a bucket finds nothing wrong, or says what and why")
    func trial() async throws {
        #expect(try await store("trial").trial() == nil)
        #expect(try await store("trial").list("trial/").objects.isEmpty)
        #expect(
            try await store("trial", secret: "wrong").trial()
                == "writing an object: the store answered 403 SignatureDoesNotMatch")
        #expect(
            try await store("missing", isThere: false).trial()
                == "writing an object: the store answered 404 NoSuchBucket")
    }
}
