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
        var members: [JSONValue.Member] = [
            .init(name: "traceId", value: .string(span.trace.digits)),
            .init(name: "spanId", value: .string(span.id.digits)),
        ]
        if let parent = span.parent {
            members.append(.init(name: "parentSpanId", value: .string(parent.digits)))
        }
        members += [
            .init(name: "name", value: .string(span.name)),
            .init(name: "kind", value: .integer(span.kind.rawValue)),
            .init(name: "startTimeUnixNano", value: .string("\(span.start)")),
            .init(name: "endTimeUnixNano", value: .string("\(span.end)")),
            .init(name: "attributes", value: attributes(span.attributes)),
        ]
        if let error = span.error {
            members.append(
                .init(name: "status", value: ["code": .integer(errorCode), "message": .string(error)]))
        }
        return .object(members)
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
