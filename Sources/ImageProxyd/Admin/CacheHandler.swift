// SPDX-License-Identifier: Apache-2.0

import Cache
import Freshness
internal import HTTPServer
import Imaging
import Pipeline
import Primitives
import Request
import URLs

/// Answers `/cache` and `PURGE /img`: lists and purges what is cached.
struct CacheHandler: Sendable {
    let pipeline: ImagePipeline
    let clock: @Sendable () -> Int64

    /// A `*` is an ordinary character of URLs, so this is not an error.
    private static let noPrefix =
        "'*' stands for itself: url names one source. Sources that go together are purged by tag, all by all=1"

    private static let selectors = ["url", "url64", "key", "tag", "all"]

    /// `DELETE /cache`: one of `url`, `url64`, `key`, `tag` and `all=1`, and `tier`.
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
        return try await purge(target(selector, query), in: tiers)
    }

    /// `PURGE /img`: purges a source with all variants. A parameter of one variant is refused.
    func purgeImage(_ query: [UInt8]) async throws(AdminFailure) -> HTTPResponse {
        let query = try AdminQuery(query, names: ImageRequestParser.parameterNames)
        if let other = query.names.subtracting(["url", "url64"]).min() {
            throw AdminQuery.invalid(
                other, "PURGE takes url or url64 alone, and purges all variants of the source")
        }
        guard let source = try query.source(pipeline.buckets) else {
            throw .request(.missingParameter("url"))
        }
        return try await purge(.source(source), in: .all)
    }

    private func target(
        _ selector: String, _ query: AdminQuery
    ) throws(AdminFailure) -> PurgeTarget {
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
        case "all":
            guard value == "1" else { throw AdminQuery.invalid("all", "must be 1") }
            return .everything
        default:
            guard let source = try query.source(pipeline.buckets) else {
                throw .request(.missingParameter("url"))
            }
            return .source(source)
        }
    }

    private func purge(
        _ target: PurgeTarget, in tiers: PurgedTiers
    ) async throws(AdminFailure) -> HTTPResponse {
        do throws(DiskCacheError) {
            let counts = try await pipeline.purge(target, in: tiers)
            var object: JSONValue = [
                "memory": .integer(counts.memory), "disk": .integer(counts.disk),
                "failures": .integer(counts.failures),
            ]
            // Links of tags were lost with an index or a folder: only a purge of everything is then certain
            // to reach all.
            if counts.mayLackSome { object = object.setting(["complete"], to: .bool(false)) }
            if case .source(let source) = target, source.normalized.hasSuffix("*"),
                counts.memory + counts.disk + counts.failures == 0
            {
                object = object.setting(["hint"], to: .string(Self.noPrefix))
            }
            var response = AdminAnswer.json(object)
            response.note = ExchangeNote(purged: target)
            return response
        } catch {
            throw .disk(error)
        }
    }

    /// `GET /cache?url=…`: keys, tiers, sizes, freshness.
    func list(_ query: [UInt8]) async throws(AdminFailure) -> HTTPResponse {
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
            "url": .string(source.normalized), "source": listing.record.map(freshness) ?? .null,
            "entries": .array(memory + disk), "cut": .bool(listing.isCut),
        ])
    }

    private func freshness(_ record: SourceRecord) -> JSONValue {
        let now = clock()
        return [
            "key": .string("\(record.key)"),
            "format": .string(record.format.rawValue),
            "bytes": .integer(record.byteCount),
            "fresh": .bool(record.isFresh(at: now)),
            "age": .integer(Int(record.currentAge(at: now))),
            "lifetime": .integer(Int(record.freshnessLifetime)),
            "etag": record.entityTag.json,
            "lastModified": record.lastModified.json,
        ]
    }
}
