// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import HTTPServer

@Suite("Generated inputs")
struct FuzzTests {
    private static let limits = RequestLimits(
        headBytes: 1_024, targetBytes: 256, fieldLines: 16, contentBytes: 64, extensionBytes: 32,
        trailerBytes: 64)

    @Test("Requests are parsed the same however they are split, and what is accepted is what it says it is")
    func requests() {
        var generator = InputGenerator(seed: Corpus.seed, corpus: Corpus.inputs("request"))
        var accepted = 0
        for number in 0..<Corpus.count(20_000) {
            let input = generator.input()
            let whole = RequestStream.read(input, Self.limits, cutAt: [])
            let cuts = Self.cuts(&generator, input.count, everywhere: number % 64 == 0)
            let split = RequestStream.read(input, Self.limits, cutAt: cuts)
            guard whole.events == split.events else {
                Issue.record("\(input) cut at \(cuts): \(split.events), not \(whole.events)")
                return
            }
            for request in whole.requests {
                accepted += 1
                guard let flaw = RequestFlaw.first(in: request, Self.limits) else { continue }
                Issue.record("\(input): \(flaw)")
                return
            }
        }
        #expect(accepted > 0)
    }

    @Test("A head is accepted exactly when a plain reading of the grammar accepts it, with the same parts")
    func plainReading() {
        var generator = InputGenerator(seed: Corpus.seed &+ 1, corpus: Corpus.inputs("request"))
        var limits = RequestLimits()
        limits.fieldLines = 1_000
        let count = Corpus.count(2_000)
        var accepted = 0
        for _ in 0..<count {
            let input = generator.input()
            let plain = PlainReading(input).verdict
            if case .accepted = plain { accepted += 1 }
            let (outcome, request) = HeadReading.read(input, limits, pieces: [])
            if let difference = Self.difference(plain, outcome, request) {
                Issue.record("\(String(decoding: input, as: UTF8.self).debugDescription): \(difference)")
                return
            }
        }
        #expect(accepted > count / 10)
    }

    @Test("Chunked content is read the same however it is split, within its bounds")
    func chunks() {
        var generator = InputGenerator(seed: Corpus.seed, corpus: Corpus.inputs("chunked"))
        let head = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        for number in 0..<Corpus.count(4_000) {
            let input = head + generator.input()
            let whole = RequestStream.read(input, Self.limits, cutAt: [])
            let cuts = Self.cuts(&generator, input.count, everywhere: number % 64 == 0)
            guard whole.events == RequestStream.read(input, Self.limits, cutAt: cuts).events else {
                Issue.record("\(input) cut at \(cuts)")
                return
            }
            if case .request(_, _, let content)? = whole.events.first {
                #expect(content.count <= Self.limits.contentBytes)
            }
        }
    }

    @Test("Parsed ranges always lie within the representation")
    func ranges() {
        var generator = InputGenerator(seed: Corpus.seed, corpus: Corpus.inputs("range"))
        for _ in 0..<Corpus.count(4_000) {
            let input = generator.input()
            let length = Int64(generator.number(below: 1_000))
            guard let ranges = input.withUnsafeBytes({ RangeRequest($0) }) else { continue }
            #expect(ranges.ranges.count <= RangeRequest.maxRanges)
            switch ranges.selection(of: length) {
            case .whole, .unsatisfiable: continue
            case .part(let part): #expect(!part.isEmpty && part.lowerBound >= 0 && part.upperBound <= length)
            case .parts(let parts):
                #expect(parts.allSatisfy { !$0.isEmpty && $0.lowerBound >= 0 && $0.upperBound <= length })
            }
        }
    }

    @Test("An entity tag that is parsed is written unchanged, and a list that contains it matches it")
    func tags() throws {
        var generator = InputGenerator(seed: Corpus.seed, corpus: Corpus.inputs("tags"))
        let wanted = try #require(EntityTag("\"xyzzy\"".utf8))
        for _ in 0..<Corpus.count(4_000) {
            let input = generator.input()
            if let tag = EntityTag(input) { #expect(tag.fieldValue.bytes == input) }
            let strong = EntityTagList.line(input.span, names: wanted, by: .strong)
            let weak = EntityTagList.line(input.span, names: wanted, by: .weak)
            #expect(weak || !strong)
            guard weak, input != Array("*".utf8) else { continue }
            let longer = Array("\"other\", ".utf8) + input
            let stillNames = EntityTagList.line(longer.span, names: wanted, by: .weak)
            #expect(stillNames)
        }
    }

    // MARK: - Invariants

    private static func cuts(_ generator: inout InputGenerator, _ count: Int, everywhere: Bool) -> [Int] {
        guard !everywhere else { return Array(0..<count) }
        return [generator.number(below: count + 1), generator.number(below: count + 1)].sorted()
    }

    /// Where both parsers differ, if they do; the parser may refuse an incomplete head.
    private static func difference(
        _ plain: PlainReading.Verdict, _ outcome: RequestParser.Outcome, _ request: HTTPRequest
    ) -> String? {
        switch (plain, outcome) {
        case (.incomplete, .needsMore), (.incomplete, .failed), (.refused, .failed), (.refused, .refused):
            return nil
        case (.accepted(let target, let host, let lines, let framing), .head(_, let parsed))
        where framing == parsed:
            let hosts = request.values(of: .host)
            guard request.target != target || hosts.first != host || request.lines.count != lines else {
                return nil
            }
            return
                "\(target), \(host ?? ""), \(lines); parsed as \(request.target), \(hosts), \(request.lines.count)"
        default: return "\(plain), parsed as \(outcome)"
        }
    }
}
