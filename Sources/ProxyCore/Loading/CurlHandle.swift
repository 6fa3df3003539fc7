// SPDX-License-Identifier: Apache-2.0

import CCurl
import CLinux
import Glibc
import Origins
import Primitives
import URLs

// Only this file (one transfer), `CurlHandleSet.swift` (a set of transfers and its waker) and `ServiceExchange.swift`
// import libcurl for transfers; their interfaces are Swift. Option names and meanings are those of curl_easy_setopt(3) in
// libcurl 7.88.

/// The libcurl handle of one hop; confined to the loader's thread.
///
/// A handle is never reused for another hop: before 8.1.1 libcurl keeps a pointer to the previous response's last field, and
/// writes into freed memory when a head begins with a folded line. libcurl calls back into the `Transfer` that `prepare` got.
@safe
final class CurlHandle {
    /// The number of bytes that libcurl reads at once, and the largest piece of a body that it delivers.
    ///
    /// libcurl reads up to a hundred times as much before it serves the next transfer, so other transfers
    /// wait that long: some 6 ms. A file system takes a large piece with less work than many small ones.
    private static let receiveBuffer = 64 << 10
    /// The number of seconds for which libcurl caches a name's addresses.
    ///
    /// libcurl examines each of them when a transfer ends: 12,000 hosts of one client for 60 s make all transfers five times dearer.
    private static let addressLifetime = 5

    // Safe because only this object knows the pointers; they are freed once, and only after the handle left its set.
    let raw: UnsafeMutableRawPointer
    private var fieldList: UnsafeMutablePointer<curl_slist>?
    /// What libcurl says of the hop's failure, as text that ends with 0.
    private let errorBuffer: UnsafeMutablePointer<CChar>
    private let endings: TLSEndings
    /// The TLS session whose closure ends the body if nothing else does; 0 for none.
    private var session: UInt = 0

    /// Identifies the handle when its set reports that it has finished.
    var id: UInt { unsafe UInt(bitPattern: raw) }

    /// Creates a handle with the settings of every hop; nil if libcurl has no memory or lacks an option.
    /// - Parameter endings: those of the set that the handle will be added to.
    init?(configuration: FetchConfiguration, endings: TLSEndings) {
        guard let raw = unsafe curl_easy_init() else { return nil }
        unsafe self.raw = raw
        unsafe errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        unsafe errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        self.endings = endings
        guard unsafe ccurl_set_pointer(raw, CURLOPT_ERRORBUFFER, errorBuffer) == CURLE_OK else { return nil }
        guard setConstants(configuration), setCallbacks() else { return nil }
    }

    deinit {
        unsafe curl_easy_cleanup(raw)
        unsafe curl_slist_free_all(fieldList)
        // Last: the clean-up may write into it.
        unsafe errorBuffer.deallocate()
    }

    /// Sets the URL, the field lines and the transfer; false if libcurl has no memory.
    ///
    /// Called once. The transfer has to exist until the handle has been removed from its set.
    func prepare(
        url: SourceURL, lines: [String], by rule: OriginRule? = nil, for transfer: Transfer
    ) -> Bool {
        let context = unsafe Unmanaged.passUnretained(transfer).toOpaque()
        let contexts = [
            CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_PREREQDATA,
            CURLOPT_RESOLVER_START_DATA,
        ]
        return contexts.allSatisfy { unsafe ccurl_set_pointer(raw, $0, context) == CURLE_OK }
            && set(CURLOPT_FRESH_CONNECT, transfer.needsFreshConnection ? 1 : 0)
            && set(CURLOPT_FORBID_REUSE, transfer.needsOwnConnection ? 1 : 0)
            && setVersion(for: url, transfer.rules.configuration)
            && set(CURLOPT_URL, AWSCanonicalURL.target(url, by: rule)) && setFields(lines)
            && setTrust(transfer.trust)
            && setSignature(rule, transfer.job.keys) && setCommand(transfer.job.request.command)
    }

    /// The method last, since content makes libcurl choose another one.
    private func setCommand(_ command: OriginRequest.Command?) -> Bool {
        guard let command else { return true }
        // Also where it is empty: a server may require the field.
        if command.mayHaveContent {
            let code = unsafe command.content.withUnsafeBytes {
                unsafe ccurl_copy_content(raw, $0.baseAddress, $0.count)
            }
            guard code == CURLE_OK else { return false }
        }
        return set(CURLOPT_CUSTOMREQUEST, command.method)
    }

    /// Permits HTTP/2 only over TLS, where ALPN negotiates it: libcurl may put a handle with HTTP/2 on a connection that waits
    /// for another answer, as soon as any status line of the host has said `HTTP/2`, also in plain text.
    private func setVersion(for url: SourceURL, _ configuration: FetchConfiguration) -> Bool {
        let mayBeSecond = configuration.http2 && url.scheme == "https"
        return set(
            CURLOPT_HTTP_VERSION, Int(mayBeSecond ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1))
    }

    private func setTrust(_ tls: OriginRuleConfiguration.TLS) -> Bool {
        if tls.insecure { return set(CURLOPT_SSL_VERIFYPEER, 0) && set(CURLOPT_SSL_VERIFYHOST, 0) }
        guard let ca = tls.ca else { return true }
        // Only the rule's certificates: the system's folder of certificates is not used.
        guard unsafe ccurl_set_string(raw, CURLOPT_CAPATH, nil) == CURLE_OK else { return false }
        return set(CURLOPT_CAINFO, ca)
    }

    /// Not by `CURLOPT_USERPWD`, which ends the key's name at its first colon: those of OpenStack Swift have one.
    private func setSignature(_ rule: OriginRule?, _ keys: AWSKeys?) -> Bool {
        guard let signature = rule?.credentials.signature, let keys else { return true }
        return set(CURLOPT_AWS_SIGV4, signature.scope) && set(CURLOPT_USERNAME, keys.name.text)
            && set(CURLOPT_PASSWORD, keys.key.text)
    }

    private func setConstants(_ configuration: FetchConfiguration) -> Bool {
        set(CURLOPT_PROTOCOLS_STR, "http,https")
            && set(CURLOPT_FOLLOWLOCATION, 0)
            && set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
            && set(CURLOPT_PATH_AS_IS, 1)
            // An empty proxy disables the environment's (http_proxy, all_proxy); an empty list of hosts
            // without a proxy disables its no_proxy.
            && set(CURLOPT_PROXY, configuration.proxy)
            && set(CURLOPT_NOPROXY, "")
            && set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
            && set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
            && set(CURLOPT_NOSIGNAL, 1)
            // Ending a transfer during its name look-up, because of a deadline, must not wait for the resolver.
            && set(CURLOPT_QUICK_EXIT, 1)
            && set(CURLOPT_HTTP09_ALLOWED, 0)
            && set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
            && set(CURLOPT_CONNECTTIMEOUT_MS, max(1, configuration.connectTimeout.milliseconds))
            && setLifetime((configuration.connectionLifetime.milliseconds + 999) / 1_000)
            && set(CURLOPT_DNS_CACHE_TIMEOUT, Self.addressLifetime)
            && set(CURLOPT_BUFFERSIZE, Self.receiveBuffer)
            && set(CURLOPT_USERAGENT, configuration.userAgent)
            // Requests no coding; `ContentDecoder` decodes one that is sent anyway.
            && set(CURLOPT_ACCEPT_ENCODING, "identity")
            && set(CURLOPT_HTTP_CONTENT_DECODING, 0)
    }

    private func setCallbacks() -> Bool {
        unsafe ccurl_set_header_function(raw, takeHeadLine) == CURLE_OK
            && ccurl_set_write_function(raw, takeBody) == CURLE_OK
            && ccurl_set_open_socket_function(raw, openSocket) == CURLE_OK
            && ccurl_set_resolver_start_function(raw, startResolver) == CURLE_OK
            && ccurl_set_prerequest_function(raw, checkConnection) == CURLE_OK
            && ccurl_set_tls_function(raw, watchSession, Unmanaged.passUnretained(endings).toOpaque())
                == CURLE_OK
    }

    /// Sets the maximum age of a reused connection in seconds; 0 is no bound, also not for its idle time.
    private func setLifetime(_ seconds: Int) -> Bool {
        set(CURLOPT_MAXLIFETIME_CONN, seconds) && set(CURLOPT_MAXAGE_CONN, seconds == 0 ? 86_400 : seconds)
    }

    private func setFields(_ lines: [String]) -> Bool {
        for line in lines {
            guard let longer = unsafe curl_slist_append(fieldList, line) else { return false }
            unsafe fieldList = longer
        }
        return unsafe ccurl_set_list(raw, CURLOPT_HTTPHEADER, fieldList) == CURLE_OK
    }

    /// Delivers the piece of the body that the transfer had libcurl keep, and goes on; false if that fails.
    func resume() -> Bool { unsafe curl_easy_pause(raw, CURLPAUSE_CONT) == CURLE_OK }

    private func set(_ option: CURLoption, _ value: Int) -> Bool {
        unsafe ccurl_set_long(raw, option, value) == CURLE_OK
    }

    private func set(_ option: CURLoption, _ value: String) -> Bool {
        unsafe ccurl_set_string(raw, option, value) == CURLE_OK
    }
}

// MARK: - The outcome of a hop

extension CurlHandle {
    /// Why a hop ended; texts are libcurl's and for the log.
    enum Ending: Equatable {
        case complete
        case nameNotResolved(String)
        case notConnected(String)
        case tls(String)
        case timedOut
        /// One of the loader's own callbacks ended it.
        case refused
        /// The connection broke, or the response was malformed.
        case broken(String)
    }

    /// The state of TLS on a connection.
    enum TLSState {
        /// The connection has no TLS.
        case none
        /// No decrypted or received byte waits to be read.
        case quiet
        /// Bytes wait to be read, or the state is unknown.
        case pending
        /// The connection speaks HTTP/2.
        case http2
    }

    /// What libcurl wrote of the hop's failure; empty where it wrote nothing.
    var errorText: String { unsafe String(cString: errorBuffer) }

    /// Whether the hop used a connection that had been used before.
    var didReuseConnection: Bool { unsafe ccurl_get_long(raw, CURLINFO_NUM_CONNECTS) == 0 }

    /// Whether a proxy has answered the request for a tunnel.
    var hasProxyAnswered: Bool { unsafe ccurl_get_long(raw, CURLINFO_HTTP_CONNECTCODE) != 0 }

    /// Stores the connection's TLS session; called directly before the request is sent.
    func noteSession() {
        switch tls {
        case .none, .http2: session = 0
        case .quiet, .pending: session = unsafe UInt(bitPattern: ccurl_session(raw))
        }
    }

    /// Whether the connection may have been cut: TLS sent no close_notify. Valid when the hop has ended.
    var mayBeCut: Bool { session != 0 && !endings.contains(session) }

    /// The state of TLS on the connection; valid while a request is under way or about to be sent.
    var tls: TLSState {
        switch unsafe ccurl_tls_state(raw) {
        case CCURL_TLS_NONE: .none
        case CCURL_TLS_QUIET: .quiet
        case CCURL_TLS_HTTP2: .http2
        default: .pending
        }
    }

    /// Whether the handle is on a TLS connection whose other request still waits for its answer, or reads it.
    func sharesConnection(with other: CurlHandle) -> Bool {
        guard other !== self, let session = unsafe ccurl_session(raw) else { return false }
        return unsafe ccurl_session(other.raw) == session
    }

    /// Stores the microseconds of each phase of the hop.
    func readTimes(into summary: inout LoadSummary) {
        let lookup = time(CURLINFO_NAMELOOKUP_TIME_T)
        let connect = time(CURLINFO_CONNECT_TIME_T)
        let secured = time(CURLINFO_APPCONNECT_TIME_T)
        let firstByte = time(CURLINFO_STARTTRANSFER_TIME_T)
        summary.dns = lookup
        summary.connect = max(0, connect - lookup)
        summary.tls = max(0, secured - connect)
        summary.firstByte = max(0, firstByte - time(CURLINFO_PRETRANSFER_TIME_T))
        summary.body = max(0, time(CURLINFO_TOTAL_TIME_T) - firstByte)
    }

    private func time(_ info: CURLINFO) -> Int {
        Int(unsafe ccurl_get_offset(raw, info))
    }

    static func ending(of code: CURLcode) -> Ending {
        if code == CURLE_OK { return .complete }
        let text = unsafe String(cString: curl_easy_strerror(code))
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: return .nameNotResolved(text)
        case CURLE_COULDNT_CONNECT: return .notConnected(text)
        case CURLE_OPERATION_TIMEDOUT: return .timedOut
        case CURLE_WRITE_ERROR, CURLE_ABORTED_BY_CALLBACK: return .refused
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED,
            CURLE_SSL_CERTPROBLEM,
            CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION, CURLE_USE_SSL_FAILED,
            CURLE_SSL_ENGINE_INITFAILED,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
            return .tls(text)
        default: return .broken(text)
        }
    }
}

extension CurlHandle {
    /// The reason of the failure in the words of the part that knows most: the kernel, TLS or libcurl.
    ///
    /// Without the name of the host, which `log.url` says or leaves out.
    func explained(_ ending: Ending, ofHost host: String) -> Ending {
        switch ending {
        case .nameNotResolved: .nameNotResolved("the name does not resolve")
        case .notConnected(let text): .notConnected(systemError ?? text)
        case .tls(let text): .tls(details(without: host) ?? text)
        case .broken(let text): .broken(details(without: host) ?? text)
        case .complete, .timedOut, .refused: ending
        }
    }

    /// The kernel's reason for a connection that did not come about, such as `connection refused`.
    private var systemError: String? {
        let code = CInt(truncatingIfNeeded: unsafe ccurl_get_long(raw, CURLINFO_OS_ERRNO))
        guard code != 0 else { return nil }
        let text = systemErrorText(code)
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    /// What libcurl wrote of this failure, with `HOST` in place of the host's name.
    private func details(without host: String) -> String? {
        let text = errorText
        guard !text.isEmpty else { return nil }
        // TLS knows an IPv6 address without its brackets.
        let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            let core = word.drop { Self.quotes.contains($0) }.prefix { !Self.quotes.contains($0) }
            return core == name ? "HOST" : String(word)
        }
        return words.joined(separator: " ")
    }

    private static let quotes: Set<Character> = ["'", "\"", "(", ")", ",", ";"]
}

// MARK: - Callbacks: libcurl's side of the loader's thread

// Safe because `prepare` set the context to a transfer that exists as long as the handle is in its set, and
// libcurl calls back only within the set's `perform`, on the loader's thread.
private func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    unsafe context.map { unsafe Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
}

/// The result of both data callbacks that ends the transfer.
private let endTransfer = Int(CURL_WRITEFUNC_ERROR)

private func takeHeadLine(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = unsafe transfer(context) else { return endTransfer }
    let line = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer.receive(headLine: line) ? size * count : endTransfer
}

private func takeBody(
    _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let transfer = unsafe transfer(context) else { return endTransfer }
    guard !transfer.mustPause() else { return Int(CURL_WRITEFUNC_PAUSE) }
    let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    return unsafe transfer.receive(body: piece) ? size * count : endTransfer
}

/// Called before a look-up of a name that is not cached; returns 0 to permit it.
private func startResolver(
    _ state: UnsafeMutableRawPointer?, _ reserved: UnsafeMutableRawPointer?,
    _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let transfer = unsafe transfer(context) else { return 1 }
    return transfer.mayLookUp() ? 0 : 1
}

/// Called for each address before libcurl connects to it.
private func openSocket(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype,
    _ target: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    let refused = curl_socket_t(-1)
    guard let transfer = unsafe transfer(context), let target = unsafe target else { return refused }
    let bytes = unsafe UnsafeRawBufferPointer(
        start: ccurl_address_bytes(target), count: Int(target.pointee.addrlen))
    guard transfer.mayConnect(to: unsafe IPAddress(socketAddress: bytes)) else { return refused }
    let socket = unsafe linux_socket(
        target.pointee.family, target.pointee.socktype | LINUX_SOCK_CLOEXEC, target.pointee.protocol
    )
    if socket < 0 { transfer.noSocket(errno) } else { transfer.opened(socket) }
    return socket
}

/// Called before each request, on a new or a reused connection.
private func checkConnection(
    _ context: UnsafeMutableRawPointer?, _ remote: UnsafeMutablePointer<CChar>?,
    _ local: UnsafeMutablePointer<CChar>?, _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
    guard let transfer = unsafe transfer(context), let remote = unsafe remote else {
        return CURL_PREREQFUNC_ABORT
    }
    let address = unsafe IPAddress(String(cString: remote))
    let ends = address.map {
        ConnectionEnds(localPort: Int(localPort), remote: $0, remotePort: Int(remotePort))
    }
    return transfer.maySend(over: ends) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

/// Called before a TLS handshake: registers `hearAlert` for the session.
private func watchSession(
    _ handle: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?,
    _ endings: UnsafeMutableRawPointer?
) -> CURLcode {
    unsafe ccurl_watch(context, endings, hearAlert)
}

/// Called by OpenSSL for each event of a session.
private func hearAlert(_ session: UnsafeRawPointer?, _ what: Int32, _ value: Int32) {
    guard ccurl_is_end(what, value) != 0, let endings = unsafe ccurl_watcher(session) else { return }
    // Safe because the set, which outlives its connections, holds the object.
    unsafe Unmanaged<TLSEndings>.fromOpaque(endings).takeUnretainedValue().note(UInt(bitPattern: session))
}
