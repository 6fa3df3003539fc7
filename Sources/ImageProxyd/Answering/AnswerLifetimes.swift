// SPDX-License-Identifier: Apache-2.0

import Freshness
import HTTPServer

/// What an answer says of its reuse: `Cache-Control`, and the fields for caches in front that `downstream` names.
struct AnswerLifetimes: Sendable {
    /// What the origin permits.
    let control: DownstreamControl
    /// Seconds of age beyond which no cache may reuse the answer; nil for no such bound.
    var mostAge: Int64?
    let configuration: DownstreamConfiguration

    /// Whether the lines differ from one answer to the next, so that they are no part of a prepared head.
    var dependOnAge: Bool { configuration.dependsOnAge }

    /// Adds the lines for an answer of this age in seconds.
    func append(to fields: inout HTTPFields, age: Int64) {
        let control = control.bounded(by: configuration, age: age).limited(to: mostAge)
        let shared = configuration.sharedFields
        fields.append(.cacheControl) {
            control.append(to: &$0, sendsShared: shared.contains(.sharedMaxAge))
        }
        if shared.contains(.cdnCacheControl) {
            fields.append(Self.cdnCacheControl) { control.appendTargeted(to: &$0) }
        }
        if shared.contains(.surrogateControl) {
            fields.append(Self.surrogateControl) { control.appendSurrogate(to: &$0) }
        }
        if shared.contains(.accelExpires) {
            fields.append(Self.accelExpires, text: "\(control.secondsLeft(atAge: age))")
        }
    }

    private static let cdnCacheControl = FieldName(literal: "CDN-Cache-Control")
    private static let surrogateControl = FieldName(literal: "Surrogate-Control")
    private static let accelExpires = FieldName(literal: "X-Accel-Expires")
}

extension DownstreamConfiguration.TagField {
    /// The field's name.
    var fieldName: FieldName {
        switch self {
        case .cacheTag: FieldName(literal: "Cache-Tag")
        case .surrogateKey: FieldName(literal: "Surrogate-Key")
        case .xkey: FieldName(literal: "xkey")
        }
    }
}
