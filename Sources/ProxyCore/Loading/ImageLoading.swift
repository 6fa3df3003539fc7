// SPDX-License-Identifier: Apache-2.0

/// THE SEAM to origins: fetches one representation (SDWebImage's loader).
///
/// Safe from any task. Cancelling the task stops the transfer itself, not only the wait for it.
public protocol ImageLoading: Sendable {
    /// Sends `request`, follows redirects with every check repeated, and hands the final response to `receiver`.
    ///
    /// Returns when the body is complete (a body delimited by the connection's close counts as complete).
    /// - Throws: why it failed; bytes handed over by then are worthless.
    func load(
        _ request: OriginRequest, into receiver: any OriginReceiving
    ) async throws(LoadError) -> LoadSummary
}

/// Takes a response while it arrives.
///
/// Called on the loader's thread, head first, then the body in order; never concurrently.
public protocol OriginReceiving: AnyObject, Sendable {
    /// Called once, with the head of the final response (never of a redirect that is followed).
    /// - Throws: to end the transfer; `load` then throws the same error.
    func receive(head: OriginHead) throws(LoadError)

    /// Called for each piece of the decoded body; the bytes are valid during the call only.
    /// - Throws: to end the transfer; `load` then throws the same error.
    func receive(bytes: UnsafeRawBufferPointer) throws(LoadError)

    /// Called after pieces of the body, when no more is at hand for now and the transfer goes on; does nothing by default.
    func caughtUp()

    /// Called for each redirect that is followed, before the next hop; does nothing by default.
    func redirected(by head: OriginHead, to target: SourceURL)

    /// Called with a head whose status is no success, before `load` follows it or throws; does nothing by default.
    func refused(by head: OriginHead)
}

extension OriginReceiving {
    /// Takes no notice.
    public func caughtUp() {}

    /// Takes no notice.
    public func redirected(by head: OriginHead, to target: SourceURL) {}

    /// Takes no notice.
    public func refused(by head: OriginHead) {}
}

/// What to ask an origin for.
public struct OriginRequest: Sendable, Hashable {
    /// The source.
    public var url: SourceURL
    /// The stored response's entity tag, sent as `If-None-Match` exactly as the origin spelled it.
    public var ifNoneMatch: String?
    /// The stored response's `Last-Modified`, sent as `If-Modified-Since` exactly as the origin spelled it.
    public var ifModifiedSince: String?
    /// The digest of the URL whose response the validators are of, where a redirect led there; nil for `url` itself.
    ///
    /// No other URL is sent them (RFC 9110 §13.1).
    public var validatedURL: String?
    /// Further fields; each name and value has been validated (no CR, LF or NUL).
    public var fields: [Field]
    /// The rule for the source, whose fields and credentials stay with the origin of `url`.
    public var rule: OriginRule?
    /// All rules: those for redirects' targets may bound how many fetches from there run at once.
    public var rules = OriginRules.none
    /// How urgent the fetch is; may be raised while it waits.
    public var urgency = FetchUrgency()

    /// A header field.
    public struct Field: Sendable, Hashable {
        /// The field's name.
        public var name: String
        /// The field's value.
        public var value: String

        /// Pairs a name with a value.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A plain request for `url`.
    public init(
        url: SourceURL, ifNoneMatch: String? = nil, ifModifiedSince: String? = nil, fields: [Field] = [],
        rule: OriginRule? = nil
    ) {
        self.url = url
        self.ifNoneMatch = ifNoneMatch
        self.ifModifiedSince = ifModifiedSince
        self.fields = fields
        self.rule = rule
    }
}

extension OriginRequest {
    /// Whether a hop is sent the validators.
    func isConditional(at hop: SourceURL) -> Bool {
        guard ifNoneMatch != nil || ifModifiedSince != nil else { return false }
        return validatedURL.map { $0 == hop.digest } ?? (hop == url)
    }
}

extension SourceURL {
    /// A short name for it that tells nothing of what is in it.
    var digest: String { CacheKey(canonicalText: normalized).description }
}

/// The head of an origin's final response.
public struct OriginHead: Sendable, Hashable {
    /// The status code.
    public var status: Int
    /// All field lines in order, names in lower case, values without surrounding white space.
    public var fields: [OriginRequest.Field]
    /// The declared length of the body, where no content coding is in the way.
    public var contentLength: Int?
    /// When the request was sent, in seconds since 1970 (RFC 9111 §4.2.3, request_time).
    public var requestTime: Int64
    /// When the head was complete, in seconds since 1970 (response_time).
    public var responseTime: Int64
    /// Whole seconds between the two by a clock that is never set (response_delay); nil where the two alone are known.
    ///
    /// Their difference is a second more where one ends on the way.
    public var delay: Int64?

    /// Collects what is known of a head.
    public init(
        status: Int, fields: [OriginRequest.Field], contentLength: Int?, requestTime: Int64,
        responseTime: Int64, delay: Int64? = nil
    ) {
        self.delay = delay
        self.status = status
        self.fields = fields
        self.contentLength = contentLength
        self.requestTime = requestTime
        self.responseTime = responseTime
    }

    /// All values of a field, in order; `name` in lower case.
    public func values(of name: String) -> [String] {
        var values: [String] = []
        for field in fields where field.name == name { values.append(field.value) }
        return values
    }
}

/// What a finished transfer took.
public struct LoadSummary: Sendable, Hashable {
    /// Bytes of the decoded body.
    public var byteCount: Int = 0
    /// Redirects followed.
    public var redirects: Int = 0
    /// Whether the (last) connection had been used before.
    public var reusedConnection: Bool = false
    /// Microseconds spent on each phase of the last hop: name look-up, connecting, TLS, waiting for the first byte, body.
    public var dns: Int = 0, connect: Int = 0, tls: Int = 0, firstByte: Int = 0, body: Int = 0

    /// Nothing measured.
    public init() {}
}
