// SPDX-License-Identifier: Apache-2.0

import CCurl

/// A URL parsed by libcurl, which interprets it here as it does in a transfer.
///
/// The only file outside `Loading` that imports libcurl; `SourceURL` decides what is allowed.
@safe struct CurlURL: ~Copyable {
    /// Why libcurl refused.
    enum Failure: Error {
        case userInfo
        case badPort
        case badHost
        case other(String)
    }

    // Safe because this value alone owns the handle, never gives it away, and frees it once.
    private let handle: OpaquePointer

    /// Parses an absolute URL; dot segments are removed, a user name is refused.
    ///
    /// A function, because an initializer of a type with a deinit can't throw after it has created the
    /// handle.
    static func parsing(_ text: String) throws(Failure) -> CurlURL {
        guard let handle = unsafe curl_url() else { throw .other("out of memory") }
        let url = unsafe CurlURL(owning: handle)
        try url.set(CURLUPART_URL, text)
        // Fragments are never sent. Removing a part that may be absent can't fail.
        unsafe curl_url_set(url.handle, CURLUPART_FRAGMENT, nil, 0)
        return url
    }

    private init(owning handle: OpaquePointer) {
        unsafe self.handle = handle
    }

    deinit {
        unsafe curl_url_cleanup(handle)
    }

    var scheme: String { part(CURLUPART_SCHEME) ?? "" }
    /// The host; IPv6 in brackets; short, octal and hexadecimal IPv4 spelt out.
    var host: String { part(CURLUPART_HOST) ?? "" }
    /// The port; the scheme's default if none is given.
    var port: String { part(CURLUPART_PORT, flags: UInt32(CURLU_DEFAULT_PORT)) ?? "" }
    /// The path, at least `/`.
    var path: String { part(CURLUPART_PATH) ?? "/" }
    /// The query without its question mark.
    var query: String? { part(CURLUPART_QUERY) }

    private func set(_ part: CURLUPart, _ value: String) throws(Failure) {
        let code = unsafe curl_url_set(handle, part, value, UInt32(CURLU_DISALLOW_USER))
        switch code {
        case CURLUE_OK: return
        case CURLUE_USER_NOT_ALLOWED: throw .userInfo
        case CURLUE_BAD_PORT_NUMBER: throw .badPort
        case CURLUE_BAD_HOSTNAME, CURLUE_NO_HOST, CURLUE_BAD_IPV6: throw .badHost
        default: throw .other(unsafe String(cString: curl_url_strerror(code)))
        }
    }

    private func part(_ part: CURLUPart, flags: UInt32 = 0) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        guard unsafe curl_url_get(handle, part, &value, flags) == CURLUE_OK, let value = unsafe value else {
            return nil
        }
        defer { unsafe curl_free(value) }
        return unsafe String(cString: value)
    }
}
