// SPDX-License-Identifier: Apache-2.0

extension FieldName {
    /// `Accept`.
    public static let accept = FieldName(literal: "Accept")
    /// `Accept-Encoding`.
    public static let acceptEncoding = FieldName(literal: "Accept-Encoding")
    /// `Accept-Ranges`.
    public static let acceptRanges = FieldName(literal: "Accept-Ranges")
    /// `Age`.
    public static let age = FieldName(literal: "Age")
    /// `Allow`.
    public static let allow = FieldName(literal: "Allow")
    /// `Authorization`.
    public static let authorization = FieldName(literal: "Authorization")
    /// `Cache-Control`.
    public static let cacheControl = FieldName(literal: "Cache-Control")
    /// `Cache-Status`.
    public static let cacheStatus = FieldName(literal: "Cache-Status")
    /// `Connection`.
    public static let connection = FieldName(literal: "Connection")
    /// `Content-Disposition`.
    public static let contentDisposition = FieldName(literal: "Content-Disposition")
    /// `Content-Length`.
    public static let contentLength = FieldName(literal: "Content-Length")
    /// `Content-Range`.
    public static let contentRange = FieldName(literal: "Content-Range")
    /// `Content-Security-Policy`.
    public static let contentSecurityPolicy = FieldName(literal: "Content-Security-Policy")
    /// `Content-Type`.
    public static let contentType = FieldName(literal: "Content-Type")
    /// `Cookie`.
    public static let cookie = FieldName(literal: "Cookie")
    /// `Cross-Origin-Resource-Policy`.
    public static let crossOriginResourcePolicy = FieldName(literal: "Cross-Origin-Resource-Policy")
    /// `Date`.
    public static let date = FieldName(literal: "Date")
    /// `ETag`.
    public static let etag = FieldName(literal: "ETag")
    /// `Expect`.
    public static let expect = FieldName(literal: "Expect")
    /// `Forwarded`.
    public static let forwarded = FieldName(literal: "Forwarded")
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
    /// `Trailer`.
    public static let trailer = FieldName(literal: "Trailer")
    /// `Transfer-Encoding`.
    public static let transferEncoding = FieldName(literal: "Transfer-Encoding")
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
    /// `X-Forwarded-Proto`.
    public static let xForwardedProto = FieldName(literal: "X-Forwarded-Proto")
    /// `X-Request-Id`.
    public static let requestID = FieldName(literal: "X-Request-Id")
}
