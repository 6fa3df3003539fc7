// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// The content of an export: `ExportTraceServiceRequest` in OTLP's JSON (opentelemetry-proto, "JSON Protobuf Encoding"):
/// ids in hexadecimal digits, 64-bit integers as texts.
package enum OTLPRequest {
    /// - Parameter resource: what all spans are of.
    package static func json(_ spans: [Span], of resource: [Span.Attribute], version: String) -> JSONValue {
        let scope: JSONValue = ["name": .string("imageproxyd"), "version": .string(version)]
        return [
            "resourceSpans": .array([
                [
                    "resource": ["attributes": attributes(resource)],
                    "scopeSpans": .array([["scope": scope, "spans": .array(spans.map(json))]]),
                ]
            ])
        ]
    }

    private static func json(_ span: Span) -> JSONValue {
        var json: JSONValue = [
            "traceId": .string(span.trace.digits), "spanId": .string(span.id.digits),
            "name": .string(span.name), "kind": .integer(span.kind.rawValue),
            "startTimeUnixNano": .string("\(span.start)"), "endTimeUnixNano": .string("\(span.end)"),
            "attributes": attributes(span.attributes),
        ]
        if let parent = span.parent {
            json = json.setting(["parentSpanId"], to: .string(parent.digits))
        }
        if let error = span.error {
            json = json.setting(["status"], to: ["code": .integer(errorCode), "message": .string(error)])
        }
        return json
    }

    /// STATUS_CODE_ERROR.
    private static let errorCode = 2

    private static func attributes(_ attributes: [Span.Attribute]) -> JSONValue {
        .array(attributes.map { ["key": .string($0.name), "value": value($0.value)] })
    }

    private static func value(_ value: JSONValue) -> JSONValue {
        switch value {
        case .integer(let number): ["intValue": .string("\(number)")]
        case .bool: ["boolValue": value]
        case .number: ["doubleValue": value]
        case .string: ["stringValue": value]
        default: ["stringValue": .string(value.compact)]
        }
    }
}
