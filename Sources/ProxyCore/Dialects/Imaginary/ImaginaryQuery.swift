// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The parameters of an operation: of the first of equal names the value, as text.
struct ImaginaryQuery {
    private var values: [String: String] = [:]

    /// All pairs of a query, decoded, in their order.
    static func pairs(of query: String) -> [(name: String, value: String)] {
        query.split(separator: "&").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentText.decodedText(parts[0], form: true),
                let value = PercentText.decodedText(parts.count > 1 ? parts[1] : "", form: true)
            else { return nil }
            return (name, value)
        }
    }

    /// Reads decoded pairs.
    init(_ pairs: [(name: String, value: String)]) {
        values = Dictionary(pairs.map { ($0.name, $0.value) }) { first, _ in first }
    }

    /// Reads the `params` of an operation of a pipeline.
    init(_ json: JSONValue?) throws(TranslationError) {
        guard let json, json != .null else { return }
        guard case .object(let members) = json else {
            throw TranslationError(.invalid, "params", "is an object")
        }
        for member in members {
            switch member.value {
            case .string(let text): values[member.name] = text
            case .integer(let number): values[member.name] = "\(number)"
            case .number(let number): values[member.name] = NumberText.text(number)
            case .bool(let flag): values[member.name] = flag ? "true" : "false"
            case .null: break
            case .array, .object:
                throw TranslationError(.invalid, member.name.excerpt, "is text, a number, true or false")
            }
        }
    }

    /// A parameter that is not empty.
    func text(_ name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A number without its sign; nil where it is not there.
    func number(_ name: String) throws(TranslationError) -> Double? {
        guard let text = text(name) else { return nil }
        guard let number = NumberText.decimal(text) else {
            throw TranslationError(.invalid, name, "is a number")
        }
        return abs(number)
    }

    /// A number, rounded; nil where it is 0 or not there.
    func count(_ name: String) throws(TranslationError) -> Int? {
        guard let number = try number(name) else { return nil }
        let rounded = Int(min(number, 1_000_000_000).rounded())
        return rounded == 0 ? nil : rounded
    }

    /// A switch; nil where it is not there.
    func flag(_ name: String) throws(TranslationError) -> Bool? {
        guard let value = values[name] else { return nil }
        switch value {
        case "1", "t", "T", "true", "TRUE", "True": return true
        case "0", "f", "F", "false", "FALSE", "False", "": return false
        default: throw TranslationError(.invalid, name, "is true or false")
        }
    }

    /// A colour `r,g,b` as hexadecimal.
    func color(_ name: String) throws(TranslationError) -> String? {
        guard let text = text(name) else { return nil }
        let levels = text.split(separator: ",", omittingEmptySubsequences: false).compactMap { part in
            UInt8(part.trimmingPrefix(" "))
        }
        guard levels.count == 3 else {
            throw TranslationError(.invalid, name, "is three numbers from 0 to 255: r,g,b")
        }
        return levels.map(\.hexadecimal).joined()
    }
}
