// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import ProxyCore

/// The fields of an image's answer that stay the same as long as the entry does: of the 200, and of the 304.
struct ImageHeads {
    /// Fields of a 200.
    let full: HTTPFields
    /// Fields of a 304 (RFC 9110 §15.4.5).
    let notModified: HTTPFields
    /// What the bytes are recognised by.
    let validators: Validators

    init(_ image: ImageResponse, request: ImageRequest, sharing: SharingPolicy) {
        validators = Validators(image.description.contentHash, image.record)

        var shared = HTTPFields()
        if let tag = validators.entityTag { shared.append(.etag, tag.fieldValue) }
        shared.append(.cacheControl, text: Self.cacheControl(image.record))
        if let vary = sharing.vary(onAccept: request.isNegotiated) { shared.append(.vary, text: vary) }
        shared.append(sharing.fields)
        notModified = shared

        if let modified = image.record.lastModified { shared.append(.lastModified, text: modified) }
        shared.append(.acceptRanges, text: "bytes")
        shared.append(.contentType, text: image.description.format.row.mediaType)
        shared.append(.contentDisposition, text: "inline")
        shared.append(.contentTypeOptions, text: "nosniff")
        shared.append(.contentSecurityPolicy, text: "default-src 'none'; sandbox")
        shared.append(.crossOriginResourcePolicy, text: "cross-origin")
        full = shared
    }

    /// The whole freshness lifetime, constant for an entry, and what the origin wants to be passed on.
    static func cacheControl(_ record: SourceRecord) -> String {
        let directives = record.directives
        var members = [directives.contains(.isPrivate) ? "private" : "public"]
        if directives.contains(.noStore) { members = ["no-store"] }
        if directives.contains(.noCache) { members.append("no-cache") }
        members.append("max-age=\(max(0, record.freshnessLifetime))")
        if directives.contains(.mustRevalidate) { members.append("must-revalidate") }
        if directives.contains(.proxyRevalidate) { members.append("proxy-revalidate") }
        if directives.contains(.immutable) { members.append("immutable") }
        return members.joined(separator: ", ")
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
