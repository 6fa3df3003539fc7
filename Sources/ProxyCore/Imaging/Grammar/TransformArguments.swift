// SPDX-License-Identifier: Apache-2.0

/// The arguments of one operation: the value of each declared parameter, given or by default.
package struct TransformArguments: Sendable {
    /// The operation's name.
    let operation: String
    /// The operation's parameters.
    let parameters: [TransformParameter]
    /// The given values, by parameter name.
    package private(set) var given: [String: TransformValue]
    /// How many of the values were given by position; 0 once a rule has completed them.
    private(set) var positionalCount: Int
    /// The offset of the operation in the text that it was parsed from; nil if it was not parsed.
    let position: Int?
    /// The offset of each given value there, by parameter name.
    private let places: [String: Int]

    /// Checks that every required parameter is given.
    init(
        operation: String, parameters: [TransformParameter], given: [String: TransformValue],
        positionalCount: Int = 0, at position: Int?, places: [String: Int] = [:]
    ) throws(TransformError) {
        self.positionalCount = positionalCount
        self.operation = operation
        self.parameters = parameters
        self.given = given
        self.position = position
        self.places = places
        for parameter in parameters {
            guard case .required = parameter.fallback, given[parameter.name] == nil else { continue }
            throw TransformError(.missing, operation: operation, parameter: parameter.name, at: position)
        }
    }

    /// Returns an error for this operation's parameter `name`, for rules between parameters.
    func error(_ problem: TransformError.Problem, _ parameter: TransformParameter) -> TransformError {
        TransformError(
            problem, operation: operation, parameter: parameter.name, at: places[parameter.name] ?? position)
    }

    /// Multiplies each value that `dpr` multiplies.
    /// - Parameter isRounded: whether lengths then become whole pixels, half to even.
    func scaled(by factor: Double, isRounded: Bool = false) throws(TransformError) -> TransformArguments {
        var scaled = given
        for parameter in parameters where parameter.isScaled {
            // A default length is scaled, too: sharpening of an image twice as large needs twice the radius.
            guard let value = self[parameter] else { continue }
            let product = isRounded ? value.scaled(by: factor).inWholePixels : value.scaled(by: factor)
            do { scaled[parameter.name] = try parameter.checked(product) } catch {
                throw TransformError(error, operation: operation, parameter: parameter.name, at: nil)
            }
        }
        return try TransformArguments(
            operation: operation, parameters: parameters, given: scaled, at: position)
    }

    /// Returns the arguments with other values; nil removes a parameter.
    func replacing(_ values: [String: TransformValue?]) -> TransformArguments {
        var arguments = self
        for (name, value) in values { arguments.given[name] = value }
        arguments.positionalCount = 0
        return arguments
    }

    /// Adds the sides that one, two or three values by position stand for, as in CSS.
    func completingSides(
        top: TransformParameter, _ right: TransformParameter, _ bottom: TransformParameter,
        _ left: TransformParameter
    ) -> TransformArguments {
        guard (1...3).contains(positionalCount) else { return self }
        var values: [String: TransformValue?] = [:]
        for (side, opposite) in [(right, top), (bottom, top), (left, right)] where given[side.name] == nil {
            values[side.name] = values[opposite.name] ?? given[opposite.name]
        }
        return replacing(values)
    }

    /// The canonical spelling: values that equal a fixed default are omitted, the others sorted by name.
    var transformerKey: String {
        let texts = parameters.compactMap { parameter -> String? in
            guard let value = given[parameter.name] else { return nil }
            if case .value(value) = parameter.fallback { return nil }
            return "\(parameter.name)=\(value)"
        }
        return ([operation] + texts.sorted()).joined(separator: ":")
    }

    /// The value of `parameter`, given or by default; nil if it is absent.
    subscript(parameter: TransformParameter) -> TransformValue? {
        if let value = given[parameter.name] { return value }
        guard case .value(let value) = parameter.fallback else { return nil }
        return value
    }

    func number(_ parameter: TransformParameter) -> Double? {
        guard case .number(let number) = self[parameter] else { return nil }
        return number.double
    }

    /// The value of a length parameter; nil also for a word.
    func length(_ parameter: TransformParameter) -> Length? {
        guard case .length(let length) = self[parameter] else { return nil }
        return length
    }

    func size(_ parameter: TransformParameter) -> SizeRequest? {
        guard case .size(let size) = self[parameter] else { return nil }
        return size
    }

    /// The value of a colour parameter.
    func color(_ parameter: TransformParameter) -> PixelColor? {
        guard case .color(let color) = self[parameter] else { return nil }
        return color
    }

    /// The spelling of a text parameter or a name.
    func text(_ parameter: TransformParameter) -> String? {
        guard case .text(let text) = self[parameter] else { return nil }
        return text
    }

    /// The value of a choice as a case of the enum that lists the choices.
    func choice<Choice: RawRepresentable<String>>(_ parameter: TransformParameter) -> Choice? {
        guard case .word(let word) = self[parameter] else { return nil }
        return Choice(rawValue: word)
    }

    /// Whether a 0·1 switch is on.
    func isOn(_ parameter: TransformParameter) -> Bool { self[parameter] == .word("1") }

    /// The chosen words of a `words` parameter.
    func words(_ parameter: TransformParameter) -> Set<String> {
        guard case .words(let words) = self[parameter] else { return [] }
        return Set(words)
    }
}
