// SPDX-License-Identifier: Apache-2.0

import Primitives

extension JSONValue {
    /// The whole number at a path; 0 if there is none.
    func int(_ path: String...) -> Int { int(path) }

    func int(_ path: [String]) -> Int {
        switch inside(path) {
        case .integer(let value): value
        case .number(let value) where abs(value) < 1e15: Int(value)
        default: 0
        }
    }

    /// The text at a name; empty if there is none.
    func text(_ name: String) -> String {
        guard case .string(let text)? = self[name] else { return "" }
        return text
    }

    /// The whole numbers of a list at a path.
    func list(_ path: String...) -> [Int] {
        guard case .array(let values)? = inside(path) else { return [] }
        return values.map { $0.int() }
    }

    /// The objects of a list at a path.
    func rows(_ path: String...) -> [JSONValue] {
        guard case .array(let values)? = inside(path) else { return [] }
        return values
    }
}
