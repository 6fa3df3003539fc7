// SPDX-License-Identifier: Apache-2.0

/// Why a transform text is invalid: the problem, its operation and parameter, and its position.
package struct TransformError: Error, Sendable, Equatable {
    package let problem: Problem
    /// The operation's name as written; nil if none could be parsed.
    package let operation: String?
    /// The parameter's name, also for a value given by position; nil for a problem of the whole operation.
    package let parameter: String?
    /// The offset of the invalid part in the decoded transform text, in UTF-8 bytes from 0; nil if the text
    /// is valid and only scaling it by `dpr` fails.
    package let position: Int?

    /// A problem of a transform text.
    package enum Problem: Error, Equatable {
        /// There is no operation between two separators, or none at all.
        case emptyOperation
        /// There is no value between two separators, or none after a name.
        case emptyValue
        /// A character outside `[A-Za-z0-9_.+-]`.
        case invalidCharacter
        /// More operations than the limit.
        case tooManyOperations(limit: Int)
        /// No operation has this name; `hint` may name the one that was meant.
        case unknownOperation(hint: String?)
        /// The operation has no parameter of this name; `hint` likewise.
        case unknownParameter(hint: String?)
        /// More values by position than the operation has parameters.
        case tooManyValues
        /// A value by position after one by name.
        case positionalAfterNamed
        /// The parameter, or an operation that is allowed only once, is given twice.
        case repeated
        /// A parameter without a default is missing.
        case missing
        /// The value does not have the parameter's type; the text names the expected form.
        case malformed(expected: String)
        /// The value is outside its range; the text names the range.
        case outOfRange(allowed: String)
        /// Two parameters exclude each other; the text names the other.
        case conflict(with: String)
    }

    init(_ problem: Problem, operation: String? = nil, parameter: String? = nil, at position: Int?) {
        self.problem = problem
        self.operation = operation
        self.parameter = parameter
        self.position = position
    }
}

extension TransformError: CustomStringConvertible {
    /// One sentence for the client, in the terms of the grammar.
    package var description: String {
        let place = [operation, parameter].compactMap { $0 }.joined(separator: ":")
        return place.isEmpty ? sentence : "\(place): \(sentence)"
    }

    private var sentence: String {
        switch problem {
        case .emptyOperation: "an operation is missing"
        case .emptyValue: "a value is missing"
        case .invalidCharacter: "only letters, digits and _ . + - are allowed in names and values"
        case .tooManyOperations(let limit): "at most \(limit) operations are allowed"
        case .unknownOperation(let hint): "there is no such operation" + (hint.map { "; \($0)" } ?? "")
        case .unknownParameter(let hint):
            "the operation has no such parameter" + (hint.map { "; \($0)" } ?? "")
        case .tooManyValues: "the operation has fewer parameters"
        case .positionalAfterNamed: "values without a name come before those with one"
        case .repeated: "it is given twice"
        case .missing: "it is required"
        case .malformed(let expected): "expected \(expected)"
        case .outOfRange(let allowed): "allowed is \(allowed)"
        case .conflict(let other): "it cannot be combined with \(other)"
        }
    }
}
