// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import ProxyCore

/// The fields of an image's answer that stay the same as long as the entry does: of the 200, and of the 304.
struct ImageHeads {
    /// Fields of a 200.
    let full: PreparedFields
    /// Fields of a 304 (RFC 9110 §15.4.5): the first of a 200's.
    var notModified: PreparedFields { PreparedFields(lines, first: notModifiedCount) }
    private let lines: FieldLines
    private let notModifiedCount: Int
    /// What the bytes are recognised by.
    let validators: Validators
    /// What of the request the answer depends on; nil when on nothing.
    let vary: String?

    /// Of a whole image.
    ///
    /// - Parameter shortLifetime: seconds since it was made for which it may be kept, where another one is to take its place.
    init(
        _ image: ImageResponse, request: ImageRequest, sharing: SharingPolicy, shortLifetime: Int64? = nil
    ) {
        let record = image.record
        // Of a result the date says when its source was changed, not which of two encodings it is.
        let isDateStrong = image.description.kind == .original
        let validators = Validators(image.description.contentHash, record, mayDateBeStrong: isDateStrong)
        // As old as the source was, it may get that much older.
        let mostAge = shortLifetime.map { record.currentAge(at: image.description.storedAt) + $0 }
        self.init(
            record, as: image.description.format, validators, request, sharing, isTagged: image.isTagged,
            atMost: mostAge)
    }

    /// Of an image that goes out while it arrives: without an entity tag, unless all of its bytes are known by now.
    init(_ image: ArrivingImage, request: ImageRequest, sharing: SharingPolicy) {
        self.init(
            image.record, as: image.record.format, Validators(image.contentHash, image.record), request,
            sharing, isTagged: image.isTagged)
    }

    private init(
        _ record: SourceRecord, as format: ImageFormat, _ validators: Validators, _ request: ImageRequest,
        _ sharing: SharingPolicy, isTagged: Bool, atMost mostAge: Int64? = nil
    ) {
        self.validators = validators

        var lines = FieldLines(reserving: Self.usualCount)
        if let tag = validators.entityTag { lines.append(.etag) { tag.append(to: &$0) } }
        lines.append(.cacheControl) { Self.appendCacheControl(of: record, atMost: mostAge, to: &$0) }
        // A cache leaves the time at which the response was made as it is (RFC 9110 §6.6.1); Age goes with it.
        lines.append(.date) { HTTPDate(seconds: record.generationTime).append(to: &$0) }
        vary = sharing.vary(onAccept: request.isNegotiated, onDPR: request.isHinted)
        if let vary { lines.append(.vary, text: vary) }
        if request.isHinted { lines.append(.acceptCH, text: "Sec-CH-DPR") }
        lines.append(sharing.fields)
        if isTagged, !request.delivery.tags.isEmpty {
            lines.append(.cacheTag, text: request.delivery.tags.joined(separator: ","))
        }
        notModifiedCount = lines.count

        if let modified = record.modified { lines.append(.lastModified) { modified.append(to: &$0) } }
        lines.append(.contentType, text: request.isInformation ? "application/json" : format.row.mediaType)
        if request.delivery.isDownload || request.delivery.filename != nil {
            lines.append(.contentDisposition, text: Self.disposition(request.delivery))
            lines.append(Self.always)
        } else {
            lines.append(Self.shown)
        }
        self.lines = lines
        full = PreparedFields(lines)
    }

    /// Octets of most heads, and some more: what there is room for at once.
    private static let usualCount = 1_024

    /// What every image is sent with.
    private static let always = PreparedFields(alwaysFields)

    private static let alwaysFields: HTTPFields = {
        var fields = HTTPFields()
        fields.append(.acceptRanges, text: "bytes")
        fields.append(.contentTypeOptions, text: "nosniff")
        fields.append(.contentSecurityPolicy, text: "default-src 'none'; sandbox")
        fields.append(.crossOriginResourcePolicy, text: "cross-origin")
        return fields
    }()

    /// The same, and what an image without a name is sent with.
    private static let shown: PreparedFields = {
        var fields = HTTPFields()
        fields.append(.contentDisposition, text: disposition(Delivery()))
        fields.append(alwaysFields)
        return PreparedFields(fields)
    }()

    /// How a browser is to show or save the image (RFC 6266); a name beyond ASCII is given in both spellings.
    static func disposition(_ delivery: Delivery) -> String {
        let type = delivery.isDownload ? "attachment" : "inline"
        guard let name = delivery.filename else { return type }
        let isPlain = name.utf8.allSatisfy { $0 < 0x80 }
        let ascii = name.map { character in
            switch character {
            case "\"", "\\": "\\\(character)"
            case _ where character.isASCII: String(character)
            default: "_"
            }
        }
        // A percent sign is decoded by some browsers even between quotes; they take the other spelling first.
        guard !isPlain || name.contains("%") else { return "\(type); filename=\"\(ascii.joined())\"" }
        let encoded = name.utf8.map { byte in
            Self.isAttributeByte(byte)
                ? String(UnicodeScalar(byte))
                : "%" + String(Int(byte) + 0x100, radix: 16, uppercase: true).suffix(2)
        }
        return "\(type); filename=\"\(ascii.joined())\"; filename*=UTF-8''\(encoded.joined())"
    }

    /// Whether a byte stands for itself (RFC 8187 §3.2.1).
    private static func isAttributeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$&+-.^_`|~".utf8.contains(byte)
        }
    }

    /// The whole freshness lifetime, constant for an entry, and what the origin wants to be passed on.
    ///
    /// - Parameter mostAge: the age in seconds up to which it may be reused, where another one is to take its place.
    private static func appendCacheControl(
        of record: SourceRecord, atMost mostAge: Int64?, to value: inout [UInt8]
    ) {
        let (lifetime, directives) = record.downstream
        if directives.contains(.noStore) {
            value += "no-store".utf8
        } else {
            value += (directives.contains(.isPrivate) ? "private" : "public").utf8
        }
        // What varies by anything is never reused unasked (RFC 9111 §4.1), by those behind us no more than by us.
        if !directives.isDisjoint(with: [.noCache, .variesOnEverything]) { value += ", no-cache".utf8 }
        value += ", max-age=".utf8
        value += String(max(0, min(lifetime, mostAge ?? lifetime))).utf8
        if directives.contains(.mustRevalidate) { value += ", must-revalidate".utf8 }
        if directives.contains(.proxyRevalidate) { value += ", proxy-revalidate".utf8 }
        if directives.contains(.immutable), mostAge == nil { value += ", immutable".utf8 }
    }
}

extension HTTPFields {
    /// Appends a value that we made ourselves; one that is no field value (it came from an origin) is left out.
    mutating func append(_ name: FieldName, text: String) {
        guard let value = FieldValue(text) else { return }
        append(name, value)
    }

    /// Puts one line in place of all of its name, likewise.
    mutating func set(_ name: FieldName, text: String) {
        guard let value = FieldValue(text) else { return }
        set(name, value)
    }
}
