// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Parses a transform text: operations separated by `,`, arguments by `:`, first by position and then by
/// name.
struct TransformParser {
    /// The whole text, for positions in errors.
    private let text: String

    /// A part of the text with its position.
    private struct Part {
        let text: Substring
        let position: Int
    }

    /// Creates a parser for `text`, which is already percent-decoded.
    init(_ text: String) {
        self.text = text
    }

    /// Returns the operations in the order written; O(n).
    func operations(atMost limit: Int) throws(TransformError) -> [any ImageTransforming] {
        var operations: [any ImageTransforming] = []
        for (position, piece) in TextPieces(of: text[...], at: UInt8(ascii: ",")) {
            guard operations.count < limit else {
                throw TransformError(.tooManyOperations(limit: limit), at: position)
            }
            operations.append(try operation(Part(text: piece, position: position)))
        }
        return operations
    }

    private func operation(_ part: Part) throws(TransformError) -> any ImageTransforming {
        var pieces = TextPieces(of: part.text, at: UInt8(ascii: ":"), from: part.position)
        // There is always a first piece.
        let name = pieces.next().map { Part(text: $0.text, position: $0.offset) } ?? part
        try requireCharacters(name, operation: nil)
        guard !name.text.isEmpty else { throw TransformError(.emptyOperation, at: name.position) }
        guard let type = TransformRegistry.byName[String(name.text)] else {
            let hint =
                Self.isValue(name.text)
                ? "a value follows its operation behind ':', such as resize:300x200:cover"
                : suggestion(for: String(name.text), among: TransformRegistry.byName.keys)
            throw TransformError(
                .unknownOperation(hint: hint), operation: name.text.excerpt, at: name.position)
        }
        var reading = ArgumentReading(operation: type.name, parameters: type.parameters)
        while let (position, piece) = pieces.next() {
            try read(Part(text: piece, position: position), into: &reading)
        }
        return try type.init(
            arguments: TransformArguments(
                operation: type.name, parameters: type.parameters, given: reading.given,
                positionalCount: reading.nextPosition, at: part.position, places: reading.places))
    }

    /// Whether a word is a value of some operation.
    private static func isValue(_ name: Substring) -> Bool {
        TransformRegistry.byName.values.contains { operation in
            operation.parameters.contains { parameter in
                guard case .word(let words) = parameter.kind else { return false }
                return words.contains(String(name))
            }
        }
    }

    private func read(_ piece: Part, into reading: inout ArgumentReading) throws(TransformError) {
        let sides = TextPieces(of: piece.text, at: UInt8(ascii: "="), from: piece.position).prefix(3).map {
            Part(text: $0.text, position: $0.offset)
        }
        guard sides.count <= 2 else {
            throw TransformError(
                .invalidCharacter, operation: reading.operation, at: sides[2].position - 1)
        }
        for side in sides { try requireCharacters(side, operation: reading.operation) }
        let name = sides.count == 2 ? sides[0] : nil
        let value = sides[sides.count - 1]
        let parameter = try reading.parameter(named: name?.text, at: piece.position)
        guard !value.text.isEmpty else {
            throw TransformError(
                .emptyValue, operation: reading.operation, parameter: parameter.name, at: value.position)
        }
        do { reading.given[parameter.name] = try parameter.value(from: value.text) } catch {
            throw TransformError(
                error, operation: reading.operation, parameter: parameter.name, at: value.position)
        }
    }

    private func requireCharacters(_ part: Part, operation: String?) throws(TransformError) {
        var offset = 0
        for byte in part.text.utf8 {
            guard Self.isAllowed(byte) else {
                throw TransformError(.invalidCharacter, operation: operation, at: part.position + offset)
            }
            offset += 1
        }
    }

    /// Whether names and values may contain a byte.
    static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "+"),
            UInt8(ascii: "-"):
            true
        default:
            false
        }
    }
}
