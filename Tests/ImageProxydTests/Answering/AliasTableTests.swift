// SPDX-License-Identifier: Apache-2.0

import HTTPServer
import Testing

@testable import Bodies
@testable import Cache
@testable import Freshness
@testable import Answering
@testable import ImageProxyd
@testable import Imaging
@testable import Primitives

@Suite("The table of request targets")
struct AliasTableTests {
    private let share = MemoryShare(bytes: 1 << 20)

    private func alias(_ target: String, head: Int = 300, variant: AliasVariant = AliasVariant()) -> Alias {
        var fields = HTTPFields()
        if let value = FieldValue(String(repeating: "a", count: head)) {
            fields.append(FieldName(literal: "Cache-Tag"), value)
        }
        let prepared = PreparedFields(fields)
        let record = SourceRecord(
            key: CacheKey(canonicalText: "s"), keyText: "s", contentHash: ContentHash(of: [1]), byteCount: 1,
            format: .png, responseTime: WallTime(seconds: 1), freshnessLifetime: 1)
        return Alias(
            target: Array(target.utf8), variant: variant, key: CacheKey(canonicalText: "r"), entry: 1,
            head: prepared, notModifiedHead: prepared, validators: Validators(nil, record), expires: nil)
    }

    private func finds(_ table: AliasTable, _ target: String) -> Int {
        Array(target.utf8).withUnsafeBytes { bytes in
            switch table.aliases(of: bytes) {
            case .nothing: 0
            case .alone: 1
            case .variants(let aliases): aliases.count
            }
        }
    }

    @Test(
        "Targets that a client lengthens take no more bytes than the table's share, also multiplied by variants"
    )
    func boundsBytes() {
        let table = AliasTable(capacity: 65_536, share: share)
        let long = String(repeating: "a", count: 1_900)
        for number in 0..<2_000 {
            let target = "/img?url=a#\(number)" + long
            for quality in 1...8 {
                var variant = AliasVariant()
                (variant.isHinted, variant.dpr) = (true, Double(quality))
                table.insert(alias(target, variant: variant))
            }
            #expect(share.bytes <= 1 << 20)
            #expect(finds(table, target) > 0)
        }
    }

    @Test("A target beyond 2 KiB is not stored")
    func longTarget() {
        let table = AliasTable(capacity: 65_536, share: share)
        let longest = String(repeating: "a", count: AliasTable.maxTargetBytes)

        let stored = alias(longest)
        table.insert(stored)
        table.insert(alias(longest + "a"))

        #expect(finds(table, longest) == 1 && finds(table, longest + "a") == 0)
        #expect(share.bytes == stored.cost)
    }

    @Test("A target's variants that fill a shard evict the oldest variants of the same target")
    func variants() {
        let table = AliasTable(capacity: 65_536, share: MemoryShare(bytes: 16 * 8_000))
        for ratio in 1...8 {
            var variant = AliasVariant()
            (variant.isHinted, variant.dpr) = (true, Double(ratio))
            table.insert(alias("/img?url=a", head: 1_000, variant: variant))
        }

        #expect((1..<8).contains(finds(table, "/img?url=a")))
    }

    @Test("An alias that replaces another for the same target is counted once")
    func replaced() {
        let table = AliasTable(capacity: 65_536, share: share)
        let second = alias("/img?url=a")
        table.insert(alias("/img?url=a"))
        table.insert(second)

        #expect(share.bytes == second.cost)
    }
}
