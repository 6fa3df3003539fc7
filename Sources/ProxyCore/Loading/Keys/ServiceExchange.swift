// SPDX-License-Identifier: Apache-2.0

import CCurl
package import URLs

/// One small exchange with a service that an operator has chosen: one of the cloud's platform, which gives out keys, or a
/// collector of traces. Blocking.
///
/// Only for URLs of the configuration: addresses are not checked here, because metadata services have those that no source
/// may have. No redirect, proxy of the environment, cookie or netrc is used.
package struct ServiceExchange {
    package var method = "GET"
    let url: SourceURL
    /// Field lines.
    package var lines: [String] = []
    /// The content of a POST.
    package var form: String?
    /// `fetch.proxy`, or nothing.
    var proxy = ""
    /// A file with the only certificates that the service's is checked against; nil for the system's.
    package var certificate: String?
    /// The maximum time for all, in milliseconds.
    package var timeout = Self.timeout

    /// The answer of a service.
    package struct Answer {
        package let status: Int
        let body: [UInt8]
    }

    /// Why there is no answer, in libcurl's words.
    package struct Failure: Error, Sendable {
        package let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// A `GET` of a URL.
    package init(url: SourceURL) { self.url = url }

    init(
        method: String = "GET", url: SourceURL, lines: [String] = [], form: String? = nil, proxy: String = "",
        timeout: Int = Self.timeout
    ) {
        (self.method, self.url, self.lines, self.form) = (method, url, lines, form)
        (self.proxy, self.timeout) = (proxy, timeout)
    }

    /// The maximum number of bytes of an answer.
    private static let maxBytes = 64 << 10
    /// The maximum time for a connection, in milliseconds.
    private static let connectTimeout = 2_000
    /// The usual maximum time for all, in milliseconds.
    package static let timeout = 5_000

    /// Receives the body; used by one call of `run`.
    private final class Body {
        var bytes: [UInt8] = []
    }

    /// Sends the request.
    package func run() throws(Failure) -> Answer {
        guard let handle = unsafe curl_easy_init() else { throw Failure("out of memory") }
        defer { unsafe curl_easy_cleanup(handle) }
        var list: UnsafeMutablePointer<curl_slist>?
        defer { unsafe curl_slist_free_all(list) }
        for line in lines {
            guard let longer = unsafe curl_slist_append(list, line) else {
                throw Failure("out of memory")
            }
            unsafe list = longer
        }
        let body = Body()
        let context = unsafe Unmanaged.passUnretained(body).toOpaque()
        guard unsafe setOptions(of: handle),
            unsafe ccurl_set_list(handle, CURLOPT_HTTPHEADER, list) == CURLE_OK,
            unsafe ccurl_set_pointer(handle, CURLOPT_WRITEDATA, context) == CURLE_OK,
            unsafe ccurl_set_write_function(handle, takeServiceBody) == CURLE_OK
        else { throw Failure("libcurl refused the request") }
        // libcurl calls back into the body only in this call.
        let code = withExtendedLifetime(body) { unsafe curl_easy_perform(handle) }
        guard code == CURLE_OK else {
            throw Failure(
                code == CURLE_WRITE_ERROR
                    ? "its answer is longer than \(Self.maxBytes) bytes"
                    : unsafe String(cString: curl_easy_strerror(code)).lowercased())
        }
        return Answer(status: unsafe ccurl_get_long(handle, CURLINFO_RESPONSE_CODE), body: body.bytes)
    }

    private func setOptions(of handle: UnsafeMutableRawPointer) -> Bool {
        let texts = [
            (CURLOPT_URL, url.normalized), (CURLOPT_PROTOCOLS_STR, "http,https"), (CURLOPT_PROXY, proxy),
            (CURLOPT_NOPROXY, ""), (CURLOPT_USERAGENT, "imageproxyd"), (CURLOPT_CUSTOMREQUEST, method),
        ]
        let numbers = [
            (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_NOSIGNAL, 1), (CURLOPT_HTTP09_ALLOWED, 0),
            (CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue)),
            (CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            (CURLOPT_CONNECTTIMEOUT_MS, Self.connectTimeout), (CURLOPT_TIMEOUT_MS, timeout),
        ]
        if let form {
            guard unsafe ccurl_set_string(handle, CURLOPT_COPYPOSTFIELDS, form) == CURLE_OK else {
                return false
            }
        }
        if let certificate {
            guard unsafe ccurl_set_string(handle, CURLOPT_CAINFO, certificate) == CURLE_OK else {
                return false
            }
        }
        // Last: content makes libcurl choose another method.
        return texts.allSatisfy { unsafe ccurl_set_string(handle, $0.0, $0.1) == CURLE_OK }
            && numbers.allSatisfy { unsafe ccurl_set_long(handle, $0.0, $0.1) == CURLE_OK }
    }

    /// Appends bytes to a body; false where that would be too long.
    fileprivate static func append(
        _ bytes: UnsafeRawBufferPointer, to context: UnsafeMutableRawPointer
    ) -> Bool {
        // Safe because `run` passes its own object, which lives as long as the call.
        let body = unsafe Unmanaged<Body>.fromOpaque(context).takeUnretainedValue()
        guard body.bytes.count + bytes.count <= maxBytes else { return false }
        unsafe body.bytes.append(contentsOf: bytes)
        return true
    }
}

private func takeServiceBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    guard let context = unsafe context, unsafe ServiceExchange.append(piece, to: context) else { return 0 }
    return size * count
}
