// SPDX-License-Identifier: Apache-2.0

import Cache
package import Freshness
import HTTPServer
import Imaging
import Pipeline
import Primitives
package import Request

/// The fields of an image's answer that are the same for all its requests: of the 200, and of the 304.
struct ImageHeads {
    /// Fields of a 200.
    let full: PreparedFields
    /// Fields of a 304 (RFC 9110 §15.4.5): the first of a 200's.
    var notModified: PreparedFields { PreparedFields(lines, first: notModifiedCount) }
    private let lines: HTTPFields
    private let notModifiedCount: Int
    /// What is said of reuse, where that depends on an answer's age; else it stands in the heads.
    let lifetimes: AnswerLifetimes?
    /// The validators of the bytes.
    let validators: Validators
    /// The request fields that the answer depends on; nil for none.
    let vary: String?

    /// The fields of a complete image.
    /// - Parameter shortLifetime: its lifetime in seconds since it was made, if a better result will replace
    ///   it.
    init(
        _ image: ImageResponse, request: ImageRequest, crossOrigin: CrossOriginPolicy,
        shortLifetime: Int64? = nil
    ) {
        let record = image.record
        let validators = Validators(
            image.description.contentHash, record, isResult: image.description.kind != .original)
        // The result began with the age of its source.
        let mostAge = shortLifetime.map {
            record.currentAge(at: WallTime(seconds: image.description.storedAt)) + $0
        }
        self.init(
            record, as: image.description.format, validators, request, crossOrigin, isTagged: image.isTagged,
            size: (image.description.width, image.description.height), atMost: mostAge)
    }

    /// The fields of an image that is streamed while it is received: without an entity tag, unless all of its
    /// bytes are known by now.
    init(_ image: StreamingImage, request: ImageRequest, crossOrigin: CrossOriginPolicy) {
        self.init(
            image.record, as: image.record.format, Validators(image.contentHash, image.record), request,
            crossOrigin, isTagged: image.isTagged)
    }

    private init(
        _ record: SourceRecord, as format: ImageFormat, _ validators: Validators, _ request: ImageRequest,
        _ crossOrigin: CrossOriginPolicy, isTagged: Bool, size: (width: Int, height: Int) = (0, 0),
        atMost mostAge: Int64? = nil
    ) {
        self.validators = validators

        var lines = HTTPFields(reserving: Self.usualCount)
        if let tag = validators.entityTag { lines.append(.etag) { tag.append(to: &$0) } }
        let reuse = AnswerLifetimes(
            control: record.downstream(for: request), mostAge: mostAge, configuration: crossOrigin.downstream)
        lifetimes = reuse.dependOnAge ? reuse : nil
        if !reuse.dependOnAge { reuse.append(to: &lines, age: 0) }
        // A cache does not change the time at which the response was generated (RFC 9110 §6.6.1); Age goes
        // with it.
        lines.append(.date) { HTTPDate(seconds: record.generationTime).append(to: &$0) }
        vary = crossOrigin.vary(onAccept: request.isNegotiated, onDPR: request.isHinted)
        if let vary { lines.append(.vary, text: vary) }
        if request.isHinted { lines.append(.acceptCH, text: "Sec-CH-DPR") }
        lines.append(crossOrigin.fields)
        if isTagged, !request.delivery.tags.isEmpty {
            for field in crossOrigin.downstream.tagFields {
                lines.append(
                    field.fieldName, text: request.delivery.tags.joined(separator: field.separator))
            }
        }
        notModifiedCount = lines.count

        if let modified = validators.lastModified {
            lines.append(.lastModified) { HTTPDate(seconds: modified).append(to: &$0) }
        }
        lines.append(.contentType, text: request.isInformation ? "application/json" : format.traits.mediaType)
        if request.delivery.namesSize, size.width > 0 {
            lines.append(Self.imageWidth, text: "\(size.width)")
            lines.append(Self.imageHeight, text: "\(size.height)")
        }
        if request.delivery.isDownload || request.delivery.filename != nil {
            lines.append(.contentDisposition, text: Self.disposition(request.delivery, format))
            lines.append(Self.always)
        } else {
            lines.append(Self.shown)
        }
        self.lines = lines
        full = PreparedFields(lines)
    }

    private static let imageWidth = FieldName(literal: "Image-Width")
    private static let imageHeight = FieldName(literal: "Image-Height")

    /// The initial capacity in octets, more than most heads need.
    private static let usualCount = 1_024

    /// The fields of every image.
    private static let always: HTTPFields = {
        var fields = HTTPFields()
        fields.append(.acceptRanges, text: "bytes")
        fields.append(.contentTypeOptions, text: "nosniff")
        fields.append(.contentSecurityPolicy, text: "default-src 'none'; sandbox")
        fields.append(.crossOriginResourcePolicy, text: "cross-origin")
        return fields
    }()

    /// The same, with those of an image without a file name.
    private static let shown: HTTPFields = {
        var fields = HTTPFields()
        fields.append(.contentDisposition, text: disposition(Delivery()))
        fields.append(always)
        return fields
    }()

    /// How a browser shows or saves the image (RFC 6266); a name beyond ASCII is sent in both forms.
    ///
    /// `.*` at the end of the name becomes the format's extension.
    static func disposition(_ delivery: Delivery, _ format: ImageFormat? = nil) -> String {
        let type = delivery.isDownload ? "attachment" : "inline"
        guard let given = delivery.filename else { return type }
        let name =
            format.map { given.hasSuffix(".*") ? given.dropLast() + $0.traits.fileExtension : given[...] }
            ?? given[...]
        let isPlain = name.utf8.allSatisfy { $0 < 0x80 }
        let ascii = name.map { character in
            switch character {
            case "\"", "\\": "\\\(character)"
            case _ where character.isASCII: String(character)
            default: "_"
            }
        }
        // Some browsers decode a percent sign even between quotes; they prefer the other form.
        guard !isPlain || name.contains("%") else { return "\(type); filename=\"\(ascii.joined())\"" }
        let encoded = name.utf8.percentEncoded(except: Self.isAttributeByte)
        return "\(type); filename=\"\(ascii.joined())\"; filename*=UTF-8''\(encoded)"
    }

    /// Whether a byte needs no encoding (RFC 8187 §3.2.1).
    private static func isAttributeByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "!#$&+-.^_`|~".utf8.contains(byte)
    }
}

extension SourceRecord {
    /// The directives of an answer. Caches that several clients share would answer others with what a field permits.
    package func downstream(for request: ImageRequest) -> DownstreamControl {
        var control = downstream
        if request.delivery.isPermittedByField { control.directives.insert(.isPrivate) }
        return control
    }
}
