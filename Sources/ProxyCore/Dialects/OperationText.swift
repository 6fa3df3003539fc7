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
        if value != usual { set(name, NumberText.text(value)) }
    }
}
