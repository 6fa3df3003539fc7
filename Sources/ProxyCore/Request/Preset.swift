// SPDX-License-Identifier: Apache-2.0

/// A named bundle of parameters of `/img`; parameters in the request win over it. Configuration: `presets`.
public struct Preset: Sendable, Hashable, Codable {
    /// Values by parameter, as they would stand in a query, decoded.
    public let parameters: [String: String]

    /// Parameters that belong to one request and to no bundle.
    static let foreign: Set<String> = ["url", "url64", "preset", "sig", "expires"]

    /// Bundles parameters.
    public init(parameters: [String: String]) {
        self.parameters = parameters
    }

    /// Reads an object of texts, numbers and truths.
    public init(from decoder: any Decoder) throws {
        parameters = try decoder.singleValueContainer().decode([String: Value].self).mapValues(\.text)
    }

    /// Writes an object of texts.
    public func encode(to encoder: any Encoder) throws {
        try parameters.encode(to: encoder)
    }

    private struct Value: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            // Lost in all three: that the value has another type; the last attempt says what is expected.
            if let number = try? container.decode(Int.self) {
                text = "\(number)"
            } else if let truth = try? container.decode(Bool.self) {
                text = truth ? "1" : "0"
            } else if let number = try? container.decode(Double.self) {
                text = "\(number)"
            } else {
                text = try container.decode(String.self)
            }
        }
    }
}
