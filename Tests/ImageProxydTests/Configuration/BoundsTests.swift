// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import ImageProxyd

@Suite("Bounds of settings")
struct BoundsTests {
    /// The settings whose default is a number, a time or a size: each by its path.
    private static let measured: [[String]] = {
        // Safe because the defaults are encoded by every `config --defaults`, which has a test.
        guard let defaults = try? SettingsEncoder.encode(ProxyConfiguration()) else { return [] }
        return leaves(of: defaults, at: [])
    }()

    private static func leaves(of value: JSONValue, at path: [String]) -> [[String]] {
        switch value {
        case .object(let members): members.flatMap { leaves(of: $0.value, at: path + [$0.name]) }
        case .integer, .number: [path]
        case .string(let text) where text.first?.isNumber == true: [path]
        default: []
        }
    }

    @Test("A number, time or size below zero or far too large is refused, and each one is named")
    func bounds() throws {
        #expect(Self.measured.count > 80)
        let defaults = try SettingsEncoder.encode(ProxyConfiguration())
        let values: [JSONValue] = [
            .integer(-1), .integer(1_000_000_000_000_000), .integer(.max), .string("-1s"),
            .string("9999999GiB"),
            .string("99999999d"),
        ]
        for value in values {
            let file = Self.measured.reduce(defaults) { $0.replacing($1, with: value) }
            let issues = refused(in: file.compact)
            for path in Self.measured {
                let name = path.joined(separator: ".")
                let isRefused = issues.contains(name)
                #expect(isRefused, "\(name) takes \(value.compact)")
            }
        }
    }

    private func refused(in file: String) -> Set<String> {
        do throws(ConfigurationError) {
            _ = try ConfigurationLoader.load(
                .init(file: ("c.json", Array(file.utf8)), environment: [:], listen: []))
            return []
        } catch {
            return Set(error.issues.map(\.path))
        }
    }
}
