// SPDX-License-Identifier: Apache-2.0

package import Primitives

extension TransformPipeline {
    /// The reference of one operation, derived from its declaration.
    package struct OperationDescription: Sendable, Equatable {
        /// The operation's name.
        package let name: String
        /// Its effect, in one line.
        package let summary: String
        /// Its parameters in the order of their positions.
        package let parameters: [ParameterDescription]

        /// The operation for programs.
        package var json: JSONValue {
            [
                "name": name.json, "summary": summary.json,
                "parameters": .array(parameters.map(\.json)),
            ]
        }
    }

    /// The reference of one parameter.
    package struct ParameterDescription: Sendable, Equatable {
        /// The parameter's name.
        package let name: String
        /// `number`, `integer`, `length`, `size`, `choice`, `choices`, `color` or `text`.
        package let type: String
        package let isRequired: Bool
        /// The canonical spelling of the default; nil if there is none.
        let defaultValue: String?
        /// The minimum; nil if it is not a number.
        package let minimum: Double?
        /// The maximum; nil if it is not a number.
        package let maximum: Double?
        /// The allowed words; nil if there are none.
        package let choices: [String]?
        /// The allowed values, in words.
        package let allowed: String
        /// Whether `dpr` multiplies it.
        let isScaledByDPR: Bool
        /// Its purpose, in one line.
        package let summary: String

        /// The parameter for programs; `null` for what it has not.
        fileprivate var json: JSONValue {
            [
                "name": name.json, "type": type.json, "required": isRequired.json,
                "default": defaultValue.json, "minimum": minimum.json, "maximum": maximum.json,
                "choices": choices.json, "allowed": allowed.json, "scaledByDPR": isScaledByDPR.json,
                "summary": summary.json,
            ]
        }
    }

    /// All operations, in the order of the reference.
    package static var catalogue: [OperationDescription] {
        TransformRegistry.all.map { type in
            OperationDescription(
                name: type.name, summary: type.summary, parameters: type.parameters.map(description))
        }
    }

    private static func description(of parameter: TransformParameter) -> ParameterDescription {
        var isRequired = false
        var defaultValue: String?
        switch parameter.fallback {
        case .required: isRequired = true
        case .value(let value): defaultValue = value.description
        case .absent: break
        }
        return ParameterDescription(
            name: parameter.name, type: parameter.kind.label, isRequired: isRequired,
            defaultValue: defaultValue, minimum: parameter.kind.bounds?.lowerBound.double,
            maximum: parameter.kind.bounds?.upperBound.double, choices: parameter.kind.choices,
            allowed: parameter.kind.expectation, isScaledByDPR: parameter.isScaled,
            summary: parameter.doc)
    }

    /// The reference as a table in Markdown, as in `docs/transforms.md`.
    package static var referenceTable: String {
        let rows = catalogue.flatMap { operation in
            let head = "| `\(operation.name)` | | | \(operation.summary) |"
            return [head] + operation.parameters.map(row)
        }
        return (["| operation | parameter | default | |", "|---|---|---|---|"] + rows)
            .joined(separator: "\n") + "\n"
    }

    private static func row(_ parameter: ParameterDescription) -> String {
        let fallback =
            parameter.isRequired ? "required" : parameter.defaultValue.map { "`\($0)`" } ?? "none"
        let scaled = parameter.isScaledByDPR ? " Multiplied by `dpr`." : ""
        let expected = parameter.allowed.prefix(1).uppercased() + parameter.allowed.dropFirst()
        return "| | `\(parameter.name)` | \(fallback) | \(parameter.summary) \(expected).\(scaled) |"
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

    fileprivate var bounds: ClosedRange<FixedNumber>? {
        switch self {
        case .whole(let range), .length(let range), .lengthOr(let range, _):
            FixedNumber(range.lowerBound)...FixedNumber(range.upperBound)
        case .number(let range): range
        case .size, .word, .words, .color, .text, .encodedText, .name: nil
        }
    }
}
