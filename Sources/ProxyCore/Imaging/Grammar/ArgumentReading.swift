// SPDX-License-Identifier: Apache-2.0

import Primitives

/// The state of reading one operation's arguments: the next parameter, and the values so far.
struct ArgumentReading {
    let operation: String
    let parameters: [TransformParameter]
    /// The values read so far, by parameter name.
    var given: [String: TransformValue] = [:]
    /// The offset of each of them in the text.
    private(set) var places: [String: Int] = [:]
    /// How many values were given by position.
    private(set) var nextPosition = 0
    private var hasNamed = false

    /// Creates a state without values.
    init(operation: String, parameters: [TransformParameter]) {
        self.operation = operation
        self.parameters = parameters
    }

    /// Returns the parameter that a piece of text is for: the one of that name, or the next by position.
    mutating func parameter(
        named name: Substring?, at position: Int
    ) throws(TransformError) -> TransformParameter {
        let parameter = if let name { try find(name, position) } else { try next(position) }
        guard given[parameter.name] == nil else { throw error(.repeated, parameter.name, position) }
        places[parameter.name] = position
        return parameter
    }

    private mutating func find(
        _ name: Substring, _ position: Int
    ) throws(TransformError) -> TransformParameter {
        hasNamed = true
        guard let parameter = parameters.first(where: { $0.name == name }) else {
            let names = parameters.map(\.name)
            let hint =
                suggestion(for: String(name), among: names) ?? "it has \(names.joined(separator: ", "))"
            throw error(.unknownParameter(hint: hint), name.excerpt, position)
        }
        return parameter
    }

    private mutating func next(_ position: Int) throws(TransformError) -> TransformParameter {
        guard !hasNamed else { throw error(.positionalAfterNamed, nil, position) }
        guard nextPosition < parameters.count else { throw error(.tooManyValues, nil, position) }
        defer { nextPosition += 1 }
        return parameters[nextPosition]
    }

    private func error(
        _ problem: TransformError.Problem, _ parameter: String?, _ position: Int
    ) -> TransformError {
        TransformError(problem, operation: operation, parameter: parameter, at: position)
    }
}
