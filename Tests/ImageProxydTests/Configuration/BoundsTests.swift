// SPDX-License-Identifier: Apache-2.0

import Primitives
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Bounds of settings")
struct BoundsTests {
    /// The settings whose default is a number, a time or a size.
    private static let measured = ProxyConfiguration.settings.rows.map(\.path).filter { path in
        switch ProxyConfiguration.defaults.inside(path.split(separator: ".").map(String.init)) {
        case .integer, .number: true
        case .string(let text): text.first?.isNumber == true
        default: false
        }
    }

    @Test("A number, time or size below zero or far too large is refused, and each one is named")
    func bounds() {
        #expect(Self.measured.count > 80)
        let values: [JSONValue] = [
            .integer(-1), .integer(1_000_000_000_000_000), .integer(.max), .string("-1s"),
            .string("9999999GiB"),
            .string("99999999d"),
        ]
        for value in values {
            let file = Self.measured.reduce(JSONValue.object([])) {
                $0.setting($1.split(separator: ".").map(String.init), to: value)
            }
            let issues = refused(in: file.compact)
            for name in Self.measured {
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
