// SPDX-License-Identifier: Apache-2.0

import Answering
import Cache
import Freshness
internal import HTTPServer
import Imaging
import Pipeline
import Primitives
import Request
import Sharing
import URLs

/// Answers `/cache` and `PURGE /img`: lists and purges what is cached.
struct CacheHandler: Sendable {
    let pipeline: ImagePipeline
    /// The other nodes, which a purge of all tiers reaches, too; nil without any.
    let cluster: Cluster?
    let clock: @Sendable () -> WallTime

    /// A `*` is an ordinary character of URLs, so this is not an error.
    private static let noPrefix =
        "'*' stands for itself: url names one source. Those whose URLs begin alike are purged by prefix, others that go together by tag, all by all=1"

    private static let selectors = ["url", "url64", "key", "tag", "prefix", "all"]

    /// `DELETE /cache`: one of `url`, `url64`, `key`, `tag`, `prefix` and `all=1`, and `tier`.
    func purge(_ query: [UInt8]) async throws(AdminFailure) -> HTTPResponse {
        let query = try AdminQuery(query, names: Set(Self.selectors + ["tier"]))
        let given = Self.selectors.filter { query[$0] != nil }
        guard let selector = given.first else { throw .nothingToPurge }
        guard given.count == 1 else {
            throw AdminQuery.invalid(given[1], "only one of \(Self.selectors.joined(separator: ", "))")
        }
        guard let tiers = PurgedTiers(rawValue: query["tier"] ?? "all") else {
            throw AdminQuery.invalid("tier", "must be one of all, disk, memory")
        }
        guard let target = try target(selector, query) else { return try await purgeSource(query, in: tiers) }
        return try await purge(target, in: tiers)
    }

    /// `PURGE /img`: purges a source with all variants. A parameter of one variant is refused.
    func purgeImage(_ query: [UInt8]) async throws(AdminFailure) -> HTTPResponse {
        let query = try AdminQuery(query, names: ImageRequestParser.parameterNames)
        if let other = query.names.subtracting(["url", "url64"]).min() {
            throw AdminQuery.invalid(
                other, "PURGE takes url or url64 alone, and purges all variants of the source")
        }
        return try await purgeSource(query, in: .all)
    }

    private func purgeSource(
        _ query: AdminQuery, in tiers: PurgedTiers
    ) async throws(AdminFailure) -> HTTPResponse {
        guard let source = try query.source(pipeline.buckets) else {
            throw .request(.missingParameter("url"))
        }
        return try await purge(.source(pipeline.key(of: source)), named: source, in: tiers)
    }

    /// What a selector names; nil for a source's URL.
    private func target(
        _ selector: String, _ query: AdminQuery
    ) throws(AdminFailure) -> PurgeTarget? {
        let value = query[selector] ?? ""
        switch selector {
        case "key":
            guard let key = CacheKey(value) else {
                throw AdminQuery.invalid("key", "must be 32 hexadecimal digits")
            }
            return .key(key)
        case "tag":
            guard Delivery.isTag(value) else {
                throw AdminQuery.invalid("tag", "a tag is 1 to 64 letters, digits and any of _ . : -")
            }
            return .tag(value)
        case "prefix":
            // Its normal form, in which sources are stored. Ignored: what is wrong with it; no source begins so.
            guard let url = try? SourceURL(parsing: value), value.count(where: { $0 == "/" }) > 2 else {
                throw AdminQuery.invalid(
                    "prefix",
                    "must be the beginning of sources' URLs up to a part of the path, such as "
                        + "https://example.org/photos/")
            }
            return .prefix(url.normalized)
        case "all":
            guard value == "1" else { throw AdminQuery.invalid("all", "must be 1") }
            return .everything
        default:
            return nil
        }
    }

    private func purge(
        _ target: PurgeTarget, named source: SourceURL? = nil, in tiers: PurgedTiers
    ) async throws(AdminFailure) -> HTTPResponse {
        do throws(DiskCacheError) {
            let purged = try await purged(target, in: tiers)
            let counts = purged.counts
            var object: JSONValue = [
                "memory": .integer(counts.memory), "disk": .integer(counts.disk),
                "failures": .integer(counts.failures),
            ]
            // Links of tags were lost with an index or a folder: only a purge of everything is then certain
            // to reach all.
            if counts.mayLackSome { object = object.setting(["complete"], to: .bool(false)) }
            if let shared = purged.shared {
                object = object.setting(["shared"], to: Self.json(shared))
            }
            if let peers = purged.peers {
                object = object.setting(
                    ["peers"],
                    to: ["reached": .integer(peers.reached), "unreachable": .strings(peers.unreachable)])
            }
            if let source, source.normalized.hasSuffix("*"),
                counts.memory + counts.disk + counts.failures == 0
            {
                object = object.setting(["hint"], to: .string(Self.noPrefix))
            }
            var response = AdminAnswer.json(object)
            response.note = ExchangeNote(purged: target, source: source)
            return response
        } catch {
            throw .disk(error)
        }
    }

    private func purged(
        _ target: PurgeTarget, in tiers: PurgedTiers
    ) async throws(DiskCacheError) -> Cluster.Purged {
        // One tier alone is a matter of this node.
        guard let cluster, tiers == .all else {
            return Cluster.Purged(counts: try await pipeline.purge(target, in: tiers))
        }
        return try await cluster.purge(target, by: pipeline)
    }

    private static func json(_ shared: SharedPurgeOutcome) -> JSONValue {
        let object: JSONValue = [
            "deleted": .integer(shared.deleted), "complete": .bool(shared.problem == nil),
        ]
        return shared.problem.map { object.setting(["problem"], to: .string($0)) } ?? object
    }

    /// `GET /cache`: with a URL what is stored of that source, else how much there is in all.
    func answer(_ query: [UInt8]) async throws(AdminFailure) -> HTTPResponse {
        query.isEmpty ? AdminAnswer.json(contents()) : try await list(query)
    }

    /// How much the tiers hold, and how much they may.
    private func contents() -> JSONValue {
        let (memory, disk) = (pipeline.tiers.memory.statistics, pipeline.tiers.disk.statistics)
        let failures = pipeline.failures.counts(at: clock().seconds).values.reduce(0, +)
        return [
            "memory": [
                "entries": .integer(memory.entries), "bytes": .integer(memory.bytes),
                "limit": .integer(memory.maxBytes), "hits": .integer(memory.hits),
                "misses": .integer(memory.misses),
            ],
            "disk": [
                "on": .bool(disk.isOn), "counted": .bool(disk.isComplete),
                "entries": .integer(disk.tally.entries), "bytes": .integer(Int(disk.tally.bytes)),
                "limit": disk.isOn ? .integer(disk.maxBytes) : .null,
                "hits": .integer(disk.hits.values.reduce(0, +)),
                "misses": .integer(disk.misses.values.reduce(0, +)),
                "kinds": .object(
                    EntryKind.allCases.map { kind in
                        JSONValue.Member(
                            name: "\(kind)",
                            value: [
                                "entries": .integer(disk.tally[kind].entries),
                                "bytes": .integer(Int(disk.tally[kind].bytes)),
                            ])
                    }),
                "records": .integer(disk.tally.records), "damaged": .integer(disk.corrupt),
                "writeErrors": .integer(disk.writeErrors), "readErrors": .integer(disk.readErrors),
            ],
            "failures": .integer(failures),
        ]
    }

    /// So much is read before other work has its turn.
    private static let verifiedAtOnce = ByteCount.mebibytes(64)

    /// `POST /cache/verify?after=…`: checks some entries of the disk tier, from a position on.
    func verify(_ query: [UInt8]) async throws(AdminFailure) -> HTTPResponse {
        let query = try AdminQuery(query, names: ["after"])
        guard let row = Int64(query["after"] ?? "0"), row >= 0 else {
            throw AdminQuery.invalid("after", "must be 0, or 'next' of the answer before")
        }
        do throws(DiskCacheError) {
            let piece = try await pipeline.tiers.disk.verify(after: row, atMost: Self.verifiedAtOnce)
            return AdminAnswer.json([
                "entries": .integer(piece.entries), "bytes": .integer(Int(piece.bytes)),
                "damaged": .integer(piece.damaged), "missing": .integer(piece.missing),
                "next": piece.next.map { .integer(Int($0)) } ?? .null,
            ])
        } catch {
            throw .disk(error)
        }
    }

    /// `GET /cache?url=…`: keys, tiers, sizes, freshness.
    private func list(_ query: [UInt8]) async throws(AdminFailure) -> HTTPResponse {
        let query = try AdminQuery(query, names: ["url", "url64"])
        guard let source = try query.source(pipeline.buckets) else {
            throw .request(.missingParameter("url"))
        }
        do throws(DiskCacheError) {
            return answer(try await pipeline.listing(of: source), of: source)
        } catch {
            throw .disk(error)
        }
    }

    private func answer(_ listing: SourceListing, of source: SourceURL) -> HTTPResponse {
        let now = clock()
        let memory = listing.memory.map { (entry, bytes) -> JSONValue in
            // An untransformed picture is listed under its source's key, as on disk: a purge by that removes
            // both.
            let key = entry.kind == .original ? entry.sourceKey : entry.key
            return [
                "tier": .string("memory"),
                "kind": .string("\(entry.kind)"),
                "key": .string("\(key)"),
                "bytes": .integer(bytes),
                "format": .string(entry.format.rawValue),
                "stored": .string(HTTPDate(seconds: entry.storedAt).description),
            ]
        }
        let disk = listing.disk.map { (entry) -> JSONValue in
            [
                "tier": .string("disk"),
                "kind": .string("\(entry.id.kind)"),
                "key": .string("\(entry.id.key)"),
                "bytes": .integer(Int(entry.bytes)),
                "stored": .string(HTTPDate(seconds: entry.storedAt).description),
                "accessed": .string(HTTPDate(seconds: entry.accessedAt).description),
            ]
        }
        return AdminAnswer.json([
            "url": .string(source.normalized),
            "source": listing.record.map { $0.json(at: now) } ?? .null,
            "entries": .array(memory + disk), "cut": .bool(listing.isCut),
        ])
    }
}
