// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import ProxyCore

/// What `/transforms` answers: every operation with its parameters, from their declarations.
enum TransformsPage {
    /// The answer; the same as long as the process lives.
    static let response: HTTPResponse = {
        var response = HTTPResponse(status: .ok)
        response.fields.append(.contentType, text: "application/json")
        response.fields.append(.cacheControl, text: "public, max-age=300")
        response.fields.append(.contentTypeOptions, text: "nosniff")
        response.body = .bytes(Array((text + "\n").utf8))
        response.context = ExchangeContext(.transforms).packed
        return response
    }()

    /// The operations as a JSON object.
    static let text: String = {
        // Lost: why they cannot be encoded; their types are texts, numbers and truths only.
        let operations = try? SettingsEncoder.encode(TransformPipeline.catalogue)
        return JSONValue.object([
            JSONValue.Member(name: "operations", value: operations ?? .array([]))
        ]).compact
    }()
}
