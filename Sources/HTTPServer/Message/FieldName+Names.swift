// SPDX-License-Identifier: Apache-2.0

extension FieldName {
    /// `Accept`.
    public static let accept = FieldName(literal: "Accept")
    /// `Accept-Ranges`.
    public static let acceptRanges = FieldName(literal: "Accept-Ranges")
    /// `Age`.
    public static let age = FieldName(literal: "Age")
    /// `Allow`.
    public static let allow = FieldName(literal: "Allow")
    /// `Cache-Control`.
    public static let cacheControl = FieldName(literal: "Cache-Control")
    /// `Cache-Status`.
    public static let cacheStatus = FieldName(literal: "Cache-Status")
    /// `Content-Disposition`.
    public static let contentDisposition = FieldName(literal: "Content-Disposition")
    /// `Content-Range`.
    public static let contentRange = FieldName(literal: "Content-Range")
    /// `Content-Security-Policy`.
    public static let contentSecurityPolicy = FieldName(literal: "Content-Security-Policy")
    /// `Content-Type`.
    public static let contentType = FieldName(literal: "Content-Type")
    /// `Cross-Origin-Resource-Policy`.
    public static let crossOriginResourcePolicy = FieldName(literal: "Cross-Origin-Resource-Policy")
    /// `Date`.
    public static let date = FieldName(literal: "Date")
    /// `ETag`.
    public static let etag = FieldName(literal: "ETag")
    /// `Host`.
    public static let host = FieldName(literal: "Host")
    /// `If-Match`.
    public static let ifMatch = FieldName(literal: "If-Match")
    /// `If-Modified-Since`.
    public static let ifModifiedSince = FieldName(literal: "If-Modified-Since")
    /// `If-None-Match`.
    public static let ifNoneMatch = FieldName(literal: "If-None-Match")
    /// `If-Range`.
    public static let ifRange = FieldName(literal: "If-Range")
    /// `If-Unmodified-Since`.
    public static let ifUnmodifiedSince = FieldName(literal: "If-Unmodified-Since")
    /// `Last-Modified`.
    public static let lastModified = FieldName(literal: "Last-Modified")
    /// `Origin`.
    public static let origin = FieldName(literal: "Origin")
    /// `Range`.
    public static let range = FieldName(literal: "Range")
    /// `Retry-After`.
    public static let retryAfter = FieldName(literal: "Retry-After")
    /// `Sec-CH-DPR`.
    public static let secCHDPR = FieldName(literal: "Sec-CH-DPR")
    /// `Server-Timing`.
    public static let serverTiming = FieldName(literal: "Server-Timing")
    /// `User-Agent`.
    public static let userAgent = FieldName(literal: "User-Agent")
    /// `Vary`.
    public static let vary = FieldName(literal: "Vary")
    /// `Via`.
    public static let via = FieldName(literal: "Via")
    /// `X-Content-Type-Options`.
    public static let contentTypeOptions = FieldName(literal: "X-Content-Type-Options")
    /// `X-Forwarded-For`.
    public static let xForwardedFor = FieldName(literal: "X-Forwarded-For")
}
