// SPDX-License-Identifier: Apache-2.0

/// A number of bytes, written in configuration as a plain number or as text with a unit: `"256MiB"`, `"10GB"`.
///
/// Units: B, kB, MB, GB, TB (powers of 1000) and KiB, MiB, GiB, TiB (powers of 1024). Never negative.
package struct ByteCount: Sendable, Hashable, Comparable {
    /// The count in bytes.
    package let bytes: Int

    /// Wraps `bytes`; a negative count becomes zero.
    package init(_ bytes: Int) {
        self.bytes = max(0, bytes)
    }

    /// Returns `count` × 1,024 bytes.
    package static func kibibytes(_ count: Int) -> ByteCount { ByteCount(count << 10) }

    /// Returns `count` × 1,048,576 bytes.
    package static func mebibytes(_ count: Int) -> ByteCount { ByteCount(count << 20) }

    /// Returns `count` × 1,073,741,824 bytes.
    package static func gibibytes(_ count: Int) -> ByteCount { ByteCount(count << 30) }

    /// Compares by count.
    package static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
}

extension ByteCount: LosslessStringConvertible {
    private static let units: [(suffix: String, factor: Int)] = [
        ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10),
        ("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1),
    ]

    /// Parses digits with an optional unit; nil for any other text, or if the product overflows.
    package init?(_ description: String) {
        let digits = description.prefix(while: { $0.isASCII && $0.isNumber })
        let suffix = description.dropFirst(digits.count)
        guard let count = Int(digits) else { return nil }
        guard let unit = Self.units.first(where: { $0.suffix == suffix }) ?? (suffix.isEmpty ? ("", 1) : nil)
        else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: unit.factor)
        guard !overflow else { return nil }
        self.init(product)
    }

    /// The shortest exact spelling: the largest binary unit that divides the count, otherwise plain digits.
    package var description: String {
        for unit in Self.units.prefix(4) where bytes >= unit.factor && bytes.isMultiple(of: unit.factor) {
            return "\(bytes / unit.factor)\(unit.suffix)"
        }
        return "\(bytes)"
    }
}

extension ByteCount: SettingNumber {
    package static let zero = ByteCount(0)
    /// The text with its unit.
    package var json: JSONValue { .string(description) }

    /// Reads a number of bytes, or a text with a unit.
    package init(json: JSONValue) throws(SettingMismatch) {
        switch json {
        case .integer(let count) where count >= 0: self.init(count)
        case .string(let text):
            guard let value = ByteCount(text) else { fallthrough }
            self = value
        default: throw SettingMismatch("expected a size such as 1048576 or \"256MiB\"")
        }
    }
}
