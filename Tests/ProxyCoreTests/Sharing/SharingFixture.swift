// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport

@testable import Bodies
@testable import Cache
@testable import Freshness
@testable import Imaging
@testable import Loading
@testable import Origins
@testable import Primitives
@testable import Sharing
@testable import URLs

/// A clock that only tests advance; it begins at a time in seconds since 1970.
final class SteppedSeconds: Sendable {
    private let milliseconds: Atomic<Int64>
    init(_ start: Int64) { milliseconds = Atomic(start * 1_000) }
    var now: WallTime { WallTime(milliseconds: milliseconds.load(ordering: .relaxed)) }
    /// Whole seconds since 1970.
    var time: Int64 { now.seconds }
    func advance(by seconds: Int64) { advance(milliseconds: seconds * 1_000) }
    func advance(milliseconds: Int64) { self.milliseconds.add(milliseconds, ordering: .relaxed) }
}

/// How many exchanges were timed.
final class TimedExchanges: Sendable {
    private let counts = Mutex<[SharedStatistics.Operation: Int]>([:])
    var value: [SharedStatistics.Operation: Int] { counts.withLock { $0 } }
    func count(_ operation: SharedStatistics.Operation) {
        counts.withLock { $0[operation, default: 0] += 1 }
    }
}

/// A tier, and a store on a loopback socket that does what a test says: it has objects by name, and a clock of its own.
final class SharingFixture: Sendable {
    static let noon: Int64 = 1_800_000_000

    struct Stored: Sendable {
        var content: [UInt8]
        var storedAt: Int64
        var metadata: [String: String]
    }

    let origin: FakeOrigin
    let tier: SharedTier
    let loader: CurlLoader
    private let folder: TemporaryDirectory
    /// The node's clock.
    let local: SteppedSeconds
    /// The store's.
    let storeTime: SteppedSeconds
    /// The node's clock that is never set, and what its pauses and time limits are waited by.
    let (monotonic, timer) = (ManualTime(), SteppedTime())
    private let objects = Mutex<[String: Stored]>([:])
    private let fault = Mutex<Fault>(Fault())
    let timed = TimedExchanges()

    /// What the store answers in place of what it should; nil for that.
    struct Fault: Sendable {
        var answer: OriginAnswer?
    }

    /// - Parameter skew: the node's clock less the store's, in seconds.
    init(skew: Int64 = 0, configure: (inout SharedConfiguration) -> Void = { _ in }) throws {
        origin = try FakeOrigin()
        var configuration = SharedConfiguration()
        var bucket = OriginRuleConfiguration.Bucket()
        bucket.url = "s3://pictures/"
        bucket.endpoint = origin.url("/")
        bucket.region = "us-east-1"
        bucket.pathStyle = true
        configuration.bucket = bucket
        var keys = OriginRuleConfiguration.AWSCredentials()
        keys.accessKey = .literal("key")
        folder = try TemporaryDirectory()
        try folder.write(Array("secret".utf8), to: "key")
        keys.secretKey = .file(folder.path + "/key")
        configuration.auth = .awsSigV4(keys)
        // A machine that is busy with other tests is slow, not wrong.
        configuration.timeout = .minutes(5)
        configure(&configuration)
        (local, storeTime) = (SteppedSeconds(Self.noon + skew), SteppedSeconds(Self.noon))
        var fetch = SharedTier.loaderConfiguration(configuration, maxEntryBytes: 1 << 20)
        fetch.connectTimeout = .minutes(5)
        (fetch.firstByteTimeout, fetch.totalTimeout, fetch.queueTimeout) = (
            .minutes(5), .minutes(5), .minutes(5)
        )
        fetch.lowSpeedTime = .minutes(5)
        loader = try CurlLoader(
            configuration: fetch,
            addresses: .unrestricted)
        let place = try StorePlace(configuration, secrets: SecretReader(credentialsDirectory: nil))
        guard let place else { throw ExchangeError.failed("no bucket") }
        let seconds: @Sendable () -> Int64 = { [local] in local.time }
        let clock: @Sendable () -> WallTime = { [local] in local.now }
        let store = ObjectStore(
            configuration, at: place, loader: loader, clock: StoreClock(local: seconds)
        ) { [timed] operation, _ in timed.count(operation) }
        tier = SharedTier(
            configuration, store: store, maxEntryBytes: 1 << 20, clock: clock,
            monotonic: { [monotonic] in monotonic.now }, timer: timer,
            unwritten: folder.path + "/purges-unwritten")
        origin.routeAll { [weak self] in self?.answer($0) ?? .status(500) }
    }

    /// What the store answers from now on; nil for what it should.
    func break_(by answer: OriginAnswer?) { fault.withLock { $0.answer = answer } }

    subscript(name: String) -> Stored? {
        get { objects.withLock { $0[name] } }
        set { objects.withLock { $0[name] = newValue } }
    }

    var names: [String] { objects.withLock { $0.keys.sorted() } }

    private func answer(_ request: OriginHTTPRequest) -> OriginAnswer {
        if let answer = fault.withLock({ $0.answer }) { return answer }
        let name = String(request.path.dropFirst("/pictures/".count))
        let date = ("Date", HTTPDate(seconds: storeTime.time).description)
        switch request.method {
        case "PUT":
            let metadata = request.fields.filter { $0.name.hasPrefix("x-amz-meta-") }.map {
                (String($0.name.dropFirst("x-amz-meta-".count)), $0.value)
            }
            self[name] = Stored(
                content: request.content, storedAt: storeTime.time,
                metadata: Dictionary(metadata, uniquingKeysWith: { $1 }))
            return .status(200, fields: [date, ("ETag", "\"a\"")])
        case "DELETE":
            self[name] = nil
            return .status(204, fields: [date])
        case "GET" where name.isEmpty: return .body(Array(list(request.target).utf8), fields: [date])
        case "POST":
            let text = String(decoding: request.content, as: UTF8.self)
            for part in XMLText(text[...]).elements("Object") {
                if let name = part.element("Key") { self[name] = nil }
            }
            return .body(Array("<DeleteResult/>".utf8), fields: [date])
        default:
            guard let object = self[name] else { return .status(404, fields: [date]) }
            let metadata = object.metadata.map { ("x-amz-meta-" + $0.key, $0.value) }
            return .body(
                object.content,
                fields: [date, ("Last-Modified", HTTPDate(seconds: object.storedAt).description)] + metadata)
        }
    }

    private func list(_ target: String) -> String {
        func parameter(_ name: String) -> String {
            let pairs = target.split(separator: "?").last?.split(separator: "&") ?? []
            let value = pairs.first { $0.hasPrefix(name + "=") }?.dropFirst(name.count + 1) ?? ""
            return String(value).replacing("%2F", with: "/")
        }
        let (prefix, last) = (parameter("prefix"), parameter("start-after"))
        let found = objects.withLock { objects in
            objects.filter { $0.key.hasPrefix(prefix) && $0.key > last }.sorted { $0.key < $1.key }
        }
        let contents = found.map { name, object in
            let time = CalendarTime(seconds: object.storedAt)
            func two(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
            return """
                <Contents><Key>\(name)</Key><LastModified>\(time.year)-\(two(time.month))-\(two(time.day))T\
                \(two(time.hour)):\(two(time.minute)):\(two(time.second)).000Z</LastModified></Contents>
                """
        }
        return "<ListBucketResult><IsTruncated>false</IsTruncated>\(contents.joined())</ListBucketResult>"
    }

    // MARK: - Samples

    static let subject = SharedSubject(
        source: CacheKey(canonicalText: "source http://o/a.jpg"), sourceText: "source http://o/a.jpg",
        url: "http://o/a.jpg", result: CacheKey(canonicalText: "result a"), resultText: "result a", tags: [])

    static let original: [UInt8] = Array("the original's bytes".utf8)
    static let picture: [UInt8] = Array("the picture's bytes".utf8)

    /// The record of the sample's source, received at a time of the node's clock.
    func record(receivedAt time: Int64? = nil, content: [UInt8] = original) -> SourceRecord {
        SourceRecord(
            key: Self.subject.source, keyText: Self.subject.sourceText,
            contentHash: ContentHash(of: content), byteCount: content.count, format: .jpeg,
            entityTag: "\"a\"", responseTime: time.map { WallTime(seconds: $0) } ?? local.now,
            initialAge: .seconds(5), freshnessLifetime: 3_600)
    }

    func entry(_ kind: EntryKind = .result, madeFrom content: [UInt8] = original) -> PortableEntry {
        let subject = Self.subject
        let isOriginal = kind == .original
        let body = isOriginal ? content : Self.picture
        return PortableEntry(
            EntryDescription(
                kind: kind, key: isOriginal ? subject.source : subject.result,
                keyText: isOriginal ? subject.sourceText : subject.resultText, sourceKey: subject.source,
                sourceHash: ContentHash(of: content), contentHash: ContentHash(of: body), format: .webp,
                width: 3, height: 2, storedAt: local.time), body: body)
    }

    /// The journal of the next process in this one's folder.
    func restartedJournal() -> PurgeJournal {
        let journal = PurgeJournal(
            store: tier.store, configuration: tier.configuration,
            unwritten: folder.path + "/purges-unwritten",
            clock: { [monotonic] in monotonic.now })
        journal.loadUnwritten()
        return journal
    }

    /// Reads the journal, without which nothing is used.
    func read() async { _ = await tier.readJournal(from: 0) { _ in true } }

    /// Has the tier store the sample.
    func share(
        _ record: SourceRecord, _ entry: PortableEntry? = nil, tags: [String] = [],
        token: PurgeToken = PurgeLog().token(for: SharingFixture.subject.source)
    ) async {
        var subject = Self.subject
        subject.tags = tags
        await tier.run(
            SharedUpload(.result, of: subject, token: token) {
                SharedUpload.Content(record: record, entry: entry)
            })
    }
}
