// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// A named set of parameters of `/img`; a request's own parameters override it. Configuration: `presets`.
package struct Preset: Sendable, Hashable {
    /// Decoded values by parameter.
    package let parameters: [String: String]

    /// Parameters that a preset may not contain.
    static let forbiddenParameters: Set<String> = ["url", "url64", "preset", "sig", "expires"]

    package init(parameters: [String: String]) {
        self.parameters = parameters
    }
}

extension Preset: SettingValue {
    /// An object of texts.
    package var json: JSONValue { parameters.json }

    /// Reads an object of texts, numbers and booleans.
    package init(json: JSONValue) throws(SettingMismatch) {
        parameters = try [String: Value](json: json).mapValues(\.text)
    }

    /// A parameter's value.
    private struct Value: SettingValue {
        let text: String
        var json: JSONValue { .string(text) }

        init(json: JSONValue) throws(SettingMismatch) {
            switch json {
            case .integer, .bool, .number: text = json.compact
            default: text = try String(json: json)
            }
        }
    }
}
