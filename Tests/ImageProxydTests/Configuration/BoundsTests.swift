// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ImageProxyd

@Suite("Bounds of settings")
struct BoundsTests {
    /// The settings with a number, a time or a size for a default: each by its path.
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

    @Test("No number, time or size is taken that is below zero or beyond all reason, and each is named")
    func bounds() {
        #expect(Self.measured.count > 80)
        for path in Self.measured {
            for value in [
                "-1", "\"-1s\"", "1000000000000000", "9223372036854775807", "\"9999999GiB\"", "\"99999999d\"",
            ] {
                let file = path.reversed().reduce(value) { "{\"\($1)\": \($0)}" }
                let issues = issues(in: file)
                let name = path.joined(separator: ".")
                #expect(issues.contains { $0.contains(name) }, "\(file): \(issues)")
            }
        }
    }

    private func issues(in file: String) -> [String] {
        do throws(ConfigurationError) {
            _ = try ConfigurationLoader.load(
                .init(file: ("c.json", Array(file.utf8)), environment: [:], listen: []))
            return []
        } catch {
            return error.issues.map(\.description)
        }
    }
}
