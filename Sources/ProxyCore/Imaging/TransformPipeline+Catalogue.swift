// SPDX-License-Identifier: Apache-2.0

extension TransformPipeline {
    /// The reference of one operation, derived from its declaration.
    public struct OperationDescription: Sendable, Codable, Equatable {
        /// The operation's name.
        public let name: String
        /// What it does, in a line.
        public let summary: String
        /// Its parameters in the order of their positions.
        public let parameters: [ParameterDescription]
    }

    /// The reference of one parameter.
    public struct ParameterDescription: Sendable, Codable, Equatable {
        /// The parameter's name.
        public let name: String
        /// `number`, `integer`, `length`, `size`, `choice`, `choices` or `color`.
        public let type: String
        /// What values are allowed, in words.
        public let allowed: String
        /// The words to choose from, where there are any.
        public let choices: [String]
        /// Whether it must be given.
        public let isRequired: Bool
        /// The canonical spelling of the default; nil when there is none.
        public let defaultValue: String?
        /// Whether `dpr` multiplies it.
        public let isScaledByDPR: Bool
        /// What it is for, in a line.
        public let summary: String
    }

    /// Every operation there is, in the order of the reference.
    public static var catalogue: [OperationDescription] {
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
            name: parameter.name, type: parameter.kind.label, allowed: parameter.kind.expectation,
            choices: parameter.kind.choices, isRequired: isRequired, defaultValue: defaultValue,
            isScaledByDPR: parameter.isScaled, summary: parameter.doc)
    }
}

extension TransformParameter.Kind {
    /// The words to choose from.
    fileprivate var choices: [String] {
        switch self {
        case .word(let words), .words(let words), .lengthOr(_, let words): words
        case .number, .fineNumber, .whole, .length, .size, .color: []
        }
    }
}
