// SPDX-License-Identifier: Apache-2.0

/// One operation of `transform` while it is written: `resize:300x200:cover:gravity=north`.
struct OperationText {
    private(set) var text: String

    /// Begins with the name and the values by position.
    init(_ name: String, _ values: String...) {
        text = ([name] + values).joined(separator: ":")
    }

    /// Adds a value by name; nothing for nil.
    mutating func set(_ name: String, _ value: String?) {
        if let value { text += ":\(name)=\(value)" }
    }

    /// Adds a number by name unless it is `usual`.
    mutating func set(_ name: String, _ value: Double, unless usual: Double) {
        if value != usual { set(name, Self.decimal(value)) }
    }

    /// A number with at most three decimals, as the grammar wants it.
    static func decimal(_ value: Double) -> String {
        let thousandths = Int((abs(value) * 1_000).rounded())
        let sign = value < 0 && thousandths > 0 ? "-" : ""
        var decimals = String(String(thousandths % 1_000 + 1_000).dropFirst())
        while decimals.last == "0" { decimals.removeLast() }
        return "\(sign)\(thousandths / 1_000)" + (decimals.isEmpty ? "" : ".\(decimals)")
    }

    /// A share of a side, 0…1 for all of it, as a percentage.
    static func percentage(_ share: Double) -> String { decimal(share * 100) + "pc" }
}
