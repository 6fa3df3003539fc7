// SPDX-License-Identifier: Apache-2.0

package import Primitives

extension TransformPipeline {
    /// The reference of all operations for programs, derived from their declarations.
    package static var catalogue: JSONValue {
        let operations = TransformRegistry.all.map { type -> JSONValue in
            [
                "name": type.name.json, "summary": type.summary.json,
                "parameters": .array(type.parameters.map(\.json)),
            ]
        }
        return .array(operations)
    }

    /// The reference as a table in Markdown, as in `docs/transforms.md`.
    package static var referenceTable: String {
        let rows = TransformRegistry.all.flatMap { type in
            ["| `\(type.name)` | | | \(type.summary) |"] + type.parameters.map(\.row)
        }
        return (["| operation | parameter | default | |", "|---|---|---|---|"] + rows)
            .joined(separator: "\n") + "\n"
    }
}

extension TransformParameter {
    private var isRequired: Bool {
        if case .required = fallback { true } else { false }
    }

    /// The canonical spelling of the default; nil if there is none.
    private var defaultValue: String? {
        if case .value(let value) = fallback { value.description } else { nil }
    }

    /// The parameter for programs; `null` for what it has not.
    fileprivate var json: JSONValue {
        [
            "name": name.json, "type": kind.label.json, "required": isRequired.json,
            "default": defaultValue.json, "minimum": (kind.bounds?.lowerBound.double).json,
            "maximum": (kind.bounds?.upperBound.double).json, "choices": kind.choices.json,
            "allowed": kind.expectation.json, "scaledByDPR": isScaled.json, "summary": doc.json,
        ]
    }

    /// The parameter's row of the table.
    fileprivate var row: String {
        let fallback = isRequired ? "required" : defaultValue.map { "`\($0)`" } ?? "none"
        let scaled = isScaled ? " Multiplied by `dpr`." : ""
        let expected = kind.expectation.prefix(1).uppercased() + kind.expectation.dropFirst()
        return "| | `\(name)` | \(fallback) | \(doc) \(expected).\(scaled) |"
    }
}

extension TransformParameter.Kind {
    /// The allowed words.
    fileprivate var choices: [String]? {
        switch self {
        case .word(let words), .words(let words), .lengthOr(_, let words): words
        case .number, .whole, .length, .size, .color, .text, .encodedText, .name: nil
        }
    }

    /// The minimum and the maximum; nil if its values are no numbers.
    fileprivate var bounds: ClosedRange<FixedNumber>? {
        switch self {
        case .whole(let range), .length(let range), .lengthOr(let range, _):
            FixedNumber(range.lowerBound)...FixedNumber(range.upperBound)
        case .number(let range): range
        case .size, .word, .words, .color, .text, .encodedText, .name: nil
        }
    }
}
