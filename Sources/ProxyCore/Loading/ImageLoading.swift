// SPDX-License-Identifier: Apache-2.0

package import Freshness
package import Origins
package import Primitives
package import URLs

/// Fetches one representation from an origin (SDWebImage's loader). The loaders and the tests' fakes
/// implement it.
///
/// Safe from any task. Cancelling the task stops the transfer itself, not only the wait for it.
package protocol ImageLoading: Sendable {
    /// Sends `request`, follows redirects with every check repeated, and delivers the final response to
    /// `receiver`.
    ///
    /// Returns when the body is complete (a body delimited by the connection's close counts as complete).
    /// - Throws: why it failed; the caller has to discard bytes delivered so far.
    func load(
        _ request: OriginRequest, into receiver: any OriginReceiving
    ) async throws(LoadError) -> LoadSummary
}

/// Receives a response while it arrives.
///
/// Called on the loader's thread: first the head, then the body in order; never concurrently.
package protocol OriginReceiving: AnyObject, Sendable {
    /// Called once, with the head of the final response (never of a redirect that is followed).
    /// - Throws: to end the transfer; `load` then throws the same error.
    func receive(head: OriginHead) throws(LoadError)

    /// Called for each piece of the decoded body; the bytes are valid only during the call.
    /// - Throws: to end the transfer; `load` then throws the same error.
    func receive(bytes: UnsafeRawBufferPointer) throws(LoadError)

    /// Called after pieces of the body, when no more bytes are available now and the transfer continues. Does
    /// nothing by default.
    func didDrain()

    /// Called for each address that a connection is tried to. Does nothing by default.
    func connecting(to address: IPAddress)

    /// Called for each redirect that is followed, before the next hop. Does nothing by default.
    func redirected(by head: OriginHead, to target: SourceURL)

    /// Called with the head of an unsuccessful response, before `load` follows it or throws. Does nothing by
    /// default.
    func refused(by head: OriginHead)
}

extension OriginReceiving {
    /// Does nothing.
    package func didDrain() {}

    /// Does nothing.
    package func connecting(to address: IPAddress) {}

    /// Does nothing.
    package func redirected(by head: OriginHead, to target: SourceURL) {}

    /// Does nothing.
    package func refused(by head: OriginHead) {}
}

/// The request for an origin.
package struct OriginRequest: Sendable {
    package var url: SourceURL
    /// The stored response's entity tag, sent as `If-None-Match` exactly as the origin spelled it.
    package var ifNoneMatch: String?
    /// The stored response's `Last-Modified`, sent as `If-Modified-Since` exactly as the origin spelled it.
    package var ifModifiedSince: String?
    /// The digest of the URL whose response the validators belong to, if a redirect led there; nil for `url`
    /// itself.
    ///
    /// The validators are sent to no other URL (RFC 9110 §13.1).
    package var validatedURL: CacheKey?
    /// Additional fields; each name and value is validated (no CR, LF or NUL).
    package var fields: [HeaderField]
    /// What is sent in place of a plain `GET`; nil for a fetch.
    package var command: Command?
    /// The rule for the source; its fields and credentials are sent only to the origin of `url`.
    package var rule: OriginRule?
    /// All rules: the rule for a redirect's target may bound the number of concurrent fetches there.
    package var rules = OriginRules.none
    /// The clients that wait for the fetch, and its priority; both may change while it waits.
    package var waiters = Waiters()

    /// A request of the daemon's own to a service that its operator has named: to an object store, or to another node.
    package struct Command: Sendable {
        package var method: String
        /// The content; empty for none. libcurl gets a copy.
        package var content: [UInt8]

        /// Whether a server expects content, be it empty.
        var mayHaveContent: Bool { method == "PUT" || method == "POST" }

        /// Pairs a method with its content.
        package init(_ method: String, content: [UInt8] = []) {
            (self.method, self.content) = (method, content)
        }
    }

    /// A plain request for `url`.
    package init(
        url: SourceURL, ifNoneMatch: String? = nil, ifModifiedSince: String? = nil,
        fields: [HeaderField] = [], rule: OriginRule? = nil
    ) {
        self.url = url
        self.ifNoneMatch = ifNoneMatch
        self.ifModifiedSince = ifModifiedSince
        self.fields = fields
        self.rule = rule
    }
}

extension OriginRequest {
    /// Whether a hop gets the validators.
    func isConditional(at hop: SourceURL) -> Bool {
        guard ifNoneMatch != nil || ifModifiedSince != nil else { return false }
        return validatedURL.map { $0 == hop.digest } ?? (hop == url)
    }
}

extension SourceURL {
    /// A short name for the URL that reveals none of its text.
    package var digest: CacheKey { CacheKey(canonicalText: normalized) }
}

/// The measurements of a finished transfer.
package struct LoadSummary: Sendable, Hashable {
    /// Bytes of the decoded body.
    package var byteCount: Int = 0
    /// Microseconds spent on each phase of the last hop: name look-up, connecting, TLS, waiting for the first byte, body.
    package var dns: Int = 0, connect: Int = 0, tls: Int = 0, firstByte: Int = 0, body: Int = 0

    /// Nothing measured.
    package init() {}
}
