// SPDX-License-Identifier: Apache-2.0

import Dialects
import Primitives
import TestSupport
import Testing

@Suite("URLs of dialects with errors in them")
struct MutationTests {
    private static let pieces = [
        "/", "//", ":", "::", "%", "%2", "%00", "%25", "%FF", "?", "&", "=", "@", ".", ",", "(", ")", "-",
        "-0", "99999999999999999999",
        "1e309", "nan", "0x1", "\u{0}", "é", "{", "}", "[", "]", "\"", "\\", "plain", "filters:", "url=",
        "unsafe",
    ]

    @Test(
        "A changed URL is translated or refused, and a translation has each parameter once",
        arguments: DialectRegistry.names)
    func mutations(name: String) throws {
        let type = try #require(DialectRegistry.named(name))
        let dialect = try Self.dialect(type)
        let targets = try Self.targets(of: name)
        var random = SplitMix(seed: 7)
        for _ in 0..<4_000 {
            var text = Array(targets[Int(random.next() % UInt64(targets.count))].unicodeScalars)
            for _ in 0...random.next() % 3 {
                let place = Int(random.next() % UInt64(text.count + 1))
                let piece = Self.pieces[Int(random.next() % UInt64(Self.pieces.count))]
                let end = min(text.count, place + Int(random.next() % 4))
                text.replaceSubrange(place..<end, with: piece.unicodeScalars)
            }
            var changed = String.UnicodeScalarView()
            changed.append(contentsOf: text)
            Self.check(dialect, String(changed))
        }
    }

    private static func dialect<Parser: Dialect>(_ type: Parser.Type) throws -> any Dialect {
        try Parser(Parser.Settings(), keys: [])
    }

    private static func check(_ dialect: any Dialect, _ target: String) {
        do throws(TranslationError) {
            let names = try dialect.translate(DialectTarget(target, now: 1)).parameters.map(\.name)
            #expect(Set(names).count == names.count, "\(target)")
        } catch {
            #expect(!error.reason.isEmpty, "\(target)")
        }
    }

    /// The targets of the recorded cases.
    private static func targets(of dialect: String) throws -> [String] {
        try Fixtures.read("dialects/\(dialect).jsonl").split(separator: UInt8(ascii: "\n")).compactMap {
            line in
            var parser = JSONParser(Array(line))
            guard case .string(let path)? = try parser.parse()["path"] else { return nil }
            return path.replacing("{SRC}", with: "http://a.example").replacing("{HOST}", with: "a.example")
                .replacing("{B64}", with: "aHR0cDovL2EvYg").replacing("{SIG}", with: "unsafe")
        }
    }
}
