// SPDX-License-Identifier: Apache-2.0

/// A named set of parameters of `/img`; a request's own parameters override it. Configuration: `presets`.
package struct Preset: Sendable, Hashable, Codable {
    /// Decoded values by parameter.
    package let parameters: [String: String]

    /// Parameters that a preset may not contain.
    static let foreign: Set<String> = ["url", "url64", "preset", "sig", "expires"]

    /// Creates a preset from parameters.
    package init(parameters: [String: String]) {
        self.parameters = parameters
    }

    /// Decodes an object of strings, numbers and booleans.
    package init(from decoder: any Decoder) throws {
        parameters = try decoder.singleValueContainer().decode([String: Value].self).mapValues(\.text)
    }

    /// Encodes an object of strings.
    package func encode(to encoder: any Encoder) throws {
        try parameters.encode(to: encoder)
    }

    private struct Value: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            // In all three cases the error that the value has another type is dropped; the last attempt names
            // the expected types.
            if let number = try? container.decode(Int.self) {
                text = "\(number)"
            } else if let truth = try? container.decode(Bool.self) {
                text = truth ? "true" : "false"
            } else if let number = try? container.decode(Double.self) {
                text = "\(number)"
            } else {
                text = try container.decode(String.self)
            }
        }
    }
}
