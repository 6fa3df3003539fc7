// SPDX-License-Identifier: Apache-2.0

import Freshness
import Origins
import Primitives
import URLs

/// The state of one fetch on the loader's thread, over all its hops.
///
/// Confined to that thread. libcurl's callbacks arrive in `Transfer+Receiving`; `Transfer+Outcome` decides
/// the next step after a hop has ended.
final class Transfer {
    /// The decision that a response's head leads to; the rest of the response does not change it.
    enum Verdict {
        /// Undecided: the head is incomplete.
        case open
        /// The response is delivered to the receiver.
        case delivering
        /// It is a redirect; carries `Location`.
        case redirect(String?)
        /// The response is not usable, or the receiver has ended it.
        case refused(LoadError)

        /// Why it is not usable.
        var error: LoadError {
            if case .refused(let error) = self { return error }
            return .incomplete("refused")
        }
    }

    /// The part that all transfers of a loader share.
    final class Rules {
        /// Limits and deadlines.
        let configuration: FetchConfiguration
        /// The addresses that may be connected to.
        let addresses: AddressPolicy
        /// The running name look-ups.
        let lookUps: NameLookUps
        /// The clocks by which a response's age is computed, and deadlines pass.
        let clocks: LoaderClocks

        init(_ settings: LoaderSettings, lookUps: NameLookUps) {
            configuration = settings.configuration
            addresses = settings.addresses
            clocks = settings.clocks
            self.lookUps = lookUps
        }

        /// Whether a proxy connects to origins, so that only its own address is visible.
        var isProxied: Bool { !configuration.proxy.isEmpty }

        /// Throws `addressForbidden` where `url` may not be requested at all, as far as that is known without
        /// resolving its name.
        ///
        /// Behind a proxy this includes an address in the URL itself. Without one, names of Tor must not be
        /// resolved (RFC 7686 §2).
        func check(_ url: SourceURL) throws(LoadError) {
            guard addresses.allows(port: url.port) else {
                throw .addressForbidden("security.ports does not allow port \(url.port)")
            }
            guard isProxied else {
                guard !url.host.hasSuffix(".onion") else {
                    throw .addressForbidden("names of Tor are asked through fetch.proxy alone")
                }
                return
            }
            guard url.literalAddress.map({ addresses.allows($0, port: url.port) }) ?? true else {
                throw .forbiddenNetwork
            }
        }

        /// Whether a connection for `url` to `address` may be used.
        func permits(_ address: IPAddress?, for url: SourceURL) -> Bool {
            guard !isProxied else { return true }
            return address.map { addresses.allows($0, port: url.port) } ?? false
        }
    }

    /// The call of `load` that it works for.
    let job: LoadJob
    /// Limits and checks.
    let rules: Rules
    private let continuation: LoadJob.Continuation
    /// The connections that have been used.
    let connections: KnownConnections
    /// What the loader's thread has to look at.
    let activity: TransferActivity

    /// The URL of this hop.
    private(set) var url: SourceURL
    /// The handle during a hop.
    var handle: CurlHandle?
    /// Redirects followed.
    private(set) var redirects = 0
    /// Hops repeated after a failure to connect.
    var retries = 0
    /// The deadlines; nil until the fetch first gets a slot.
    var clock: TransferClock?

    /// The state of the current hop.
    var hop: Hop
    /// The head of the redirect that ended the current hop.
    var redirectHead: OriginHead?
    /// The status handed to the receiver.
    var deliveredStatus: Int?
    /// The look-up of the current hop's name, while it runs.
    var lookUp: NameLookUps.Ticket?
    /// Whether it runs.
    var isLookingUp: Bool { lookUp != nil }
    /// Whether the caller has left while the name was looked up.
    private(set) var isAbandoned = false
    /// Whether the current hop needs a new connection.
    var needsFreshConnection = false
    /// Whether no other request may use the current hop's connection, before or after it.
    private(set) var needsOwnConnection = false

    /// What a transfer knows of one hop.
    struct Hop {
        /// The decision of its head.
        var verdict = Verdict.open
        /// Its head so far.
        var head: OriginHeadReader
        /// The number of body bytes as they were sent.
        var receivedBytes = 0
        /// Small pieces of the body that are not yet processed, less than a page.
        var smallChunks: [UInt8] = []
        /// The number of body bytes after content decoding.
        var bodyBytes = 0
        /// Whether bytes were delivered since the receiver was last notified.
        var hasProgress = false
        /// Decodes the body's content codings, if it has any.
        var content: ContentDecoder?
        /// Whether libcurl keeps a piece of the body until its turn comes.
        var isPaused = false
        /// The pieces of the body that have been received in this turn.
        var pieces = 0
        /// How the response has ended, while the last of its body is being decoded; and whether its connection may have been cut.
        var ending: (how: CurlHandle.Ending, mayBeCut: Bool)?
        /// Decodes the body if the rule says that it is base64.
        var decoder: Base64?
        /// When the request was sent.
        var requestTime = WallTime(seconds: 0)
        /// The same by a clock that is never set.
        var requestInstant: ContinuousClock.Instant?
        var didRefuseAddress = false
        /// Whether a socket to an address was opened.
        var didOpenSocket = false
        /// The sockets that were opened.
        var openedSockets: [CInt] = []
        /// The socket of a reused connection; nil for a new connection and for HTTP/2.
        var usedSocket: CInt?
        /// The socket whose bytes are counted; nil for HTTP/2.
        var countedSocket: CInt?
        /// The number of bytes received over it before the request was sent; -1 if the kernel does not report
        /// it.
        var bytesBefore: Int64 = -1
        /// Why the connection can't be used.
        var connectionFault: ConnectionFault?
        /// Whether `activity` has it.
        var isActive = false

        init(_ configuration: FetchConfiguration) {
            head = OriginHeadReader(maxBytes: configuration.maxHeadBytes)
        }
    }

    init(
        job: LoadJob, rules: Rules, connections: KnownConnections, activity: TransferActivity,
        continuation: LoadJob.Continuation
    ) {
        self.job = job
        self.rules = rules
        self.connections = connections
        self.activity = activity
        self.continuation = continuation
        url = job.request.url
        hop = Hop(rules.configuration)
    }

    /// Whether a redirect has led to another origin than the requested one, or out of its bucket. It stays true after a redirect
    /// back, because the other origin chose that target.
    private(set) var isCrossOrigin = false

    /// The slots that the current hop takes.
    var place: FetchTicket.Place {
        FetchTicket.Place(
            origin: url.origin, rule: hopRule?.maxConcurrent == nil ? job.request.rule : hopRule)
    }

    /// How the current hop's certificate is verified: after a redirect to another origin, as that origin's own rule says.
    var trust: OriginRuleConfiguration.TLS {
        (isCrossOrigin ? hopRule : job.request.rule)?.tls ?? OriginRuleConfiguration.TLS()
    }

    /// The rule for a redirect's target.
    private var hopRule: OriginRule?

    /// Whether the current hop's request has been sent.
    var hasSentRequest: Bool { clock?.isConnecting == false }

    /// Starts the next hop and its deadlines.
    /// - Parameter needsOwnConnection: whether no other request may use the hop's connection.
    func beginHop(at now: ContinuousClock.Instant, needsOwnConnection: Bool) {
        self.needsOwnConnection = needsOwnConnection
        if needsOwnConnection { needsFreshConnection = true }
        hop = Hop(rules.configuration)
        if clock == nil { clock = TransferClock(configuration: rules.configuration, startedAt: now) }
        clock?.beginHop(at: now)
    }

    /// The loader's thread has to look at the hop: a deadline or the received bytes may have changed.
    func noteActivity() {
        guard !hop.isActive else { return }
        hop.isActive = true
        activity.note(job.id)
    }

    /// Follows a redirect.
    func follow(_ target: SourceURL) {
        if let redirectHead { job.receiver.redirected(by: redirectHead, to: target) }
        redirectHead = nil
        url = target
        // Ignored: that the rule is ambiguous; the receiver refuses the response then.
        hopRule = try? job.request.rules.rule(for: target)
        redirects += 1
        needsFreshConnection = false
        if url.origin != job.request.url.origin || job.request.rule?.isOutsideBucket(url) == true {
            isCrossOrigin = true
        }
    }

    /// The caller leaves, and the hop stays until its look-up has ended: the resolver's thread can't be stopped, and without
    /// its slot a client that comes and leaves would begin any number of them.
    func abandon() {
        isAbandoned = true
        continuation.resume(returning: .failure(.cancelled))
    }

    /// Resumes the caller, unless it has left; the transfer is over.
    func finish(_ result: Result<LoadSummary, LoadError>) {
        if !isAbandoned { continuation.resume(returning: result) }
    }
}
