// SPDX-License-Identifier: Apache-2.0

/// One fetch on the loader's thread: where it stands, over all its hops.
///
/// Confined to that thread. libcurl's callbacks arrive in `Transfer+Receiving`; `Transfer+Outcome` says what follows
/// when a hop has ended.
final class Transfer {
    /// What a response's head has decided, whatever becomes of the rest of the response.
    enum Verdict {
        /// Nothing yet: no complete head.
        case open
        /// The response is handed to the receiver.
        case delivering
        /// It is a redirect; carries `Location`.
        case redirect(String?)
        /// It is of no use, or the receiver wants no more.
        case refused(LoadError)

        /// Why it is of no use.
        var error: LoadError {
            if case .refused(let error) = self { return error }
            return .incomplete("refused")
        }
    }

    /// What is the same for all transfers of a loader.
    final class Rules {
        /// Limits and deadlines.
        let configuration: FetchConfiguration
        /// Whom to connect to.
        let addresses: AddressPolicy
        /// The names that are being looked up.
        let lookUps: NameLookUps
        /// The time in seconds since 1970.
        let wallClock: @Sendable () -> Int64

        init(_ settings: LoaderSettings, lookUps: NameLookUps) {
            configuration = settings.configuration
            addresses = settings.addresses
            wallClock = settings.clock
            self.lookUps = lookUps
        }

        /// Whether a proxy connects, and we see its address only.
        var isProxied: Bool { !configuration.proxy.isEmpty }

        /// Whether `url` may be asked for at all, as far as it can be told without its address.
        ///
        /// Behind a proxy that includes an address that stands in the URL itself. Without one no resolver may hear of a name
        /// of Tor's (RFC 7686 §2).
        func permits(_ url: SourceURL) -> Bool {
            guard addresses.allows(port: url.port) else { return false }
            guard isProxied else { return !url.host.hasSuffix(".onion") }
            return url.literalAddress.map { addresses.allows($0, port: url.port) } ?? true
        }

        /// Whether a connection for `url` to `address` may be used.
        func permits(_ address: IPAddress?, for url: SourceURL) -> Bool {
            guard !isProxied else { return true }
            return address.map { addresses.allows($0, port: url.port) } ?? false
        }
    }

    /// The call this works for.
    let job: LoadJob
    /// Bounds and checks.
    let rules: Rules
    private let continuation: LoadJob.Continuation
    /// The connections that have been used.
    let connections: KnownConnections

    /// Where this hop goes.
    private(set) var url: SourceURL
    /// The handle while a hop is under way.
    var handle: CurlHandle?
    /// Redirects followed.
    private(set) var redirects = 0
    /// Hops repeated after a failure to connect.
    private(set) var retries = 0
    /// The deadlines; nil until the fetch first gets a slot.
    private(set) var clock: TransferClock?

    /// What the current hop's head has decided.
    var verdict = Verdict.open
    /// The current hop's head so far.
    var head: OriginHeadReader
    /// The head of the redirect that the current hop has ended with.
    var redirectHead: OriginHead?
    /// The status handed to the receiver.
    var deliveredStatus: Int?
    /// Bytes of the body as they were sent, on this hop.
    var arrivedBytes = 0
    /// Bytes of the body that have come in small pieces and are yet to be looked at, less than a page.
    var crumbs: [UInt8] = []
    /// Bytes of the body that its content codings left, on this hop.
    var bodyBytes = 0
    /// Whether bytes have been handed over since the receiver was last told that no more is at hand.
    var hasNews = false
    /// Undoes the content codings of the body where it has some.
    var content: ContentDecoder?
    /// Reads the body where the rule says that it is base64.
    var decoder: Base64?
    /// When the current hop's request went out, in seconds since 1970.
    var requestTime: Int64 = 0
    /// The same by a clock that is never set.
    var requestInstant: ContinuousClock.Instant?
    /// Whether an address of the current hop was refused.
    var didRefuseAddress = false
    /// Whether a socket to an address of the current hop was opened.
    var didOpenSocket = false
    /// Whether the current hop's name is being looked up.
    var isLookingUp = false

    /// The sockets that were opened for the current hop.
    var openedSockets: [CInt] = []
    /// The socket of the connection that the current hop uses, and others have used before; nil for a new connection, and
    /// for HTTP/2.
    var usedSocket: CInt?
    /// The socket whose bytes are counted for the current hop; nil for HTTP/2.
    var countedSocket: CInt?
    /// The bytes that had come over it before the current hop's request went out; -1 where the kernel does not tell.
    var bytesBefore: Int64 = -1
    /// Why the current hop's connection can't be used for it.
    var connectionFault: ConnectionFault?
    /// Whether an address has been tried, or refused, since this was last asked.
    var hasTriedAddress = false
    /// Whether the current hop has to have a new connection.
    private(set) var needsFreshConnection = false
    /// Whether nobody else may use the current hop's connection, before it or after it.
    private(set) var isAlone = false

    init(
        job: LoadJob, rules: Rules, connections: KnownConnections, continuation: LoadJob.Continuation
    ) {
        self.job = job
        self.rules = rules
        self.connections = connections
        self.continuation = continuation
        url = job.request.url
        client = job.request.urgency.client
        head = OriginHeadReader(maxBytes: rules.configuration.maxHeadBytes)
    }

    /// Whether a redirect has led to another origin than the one that was asked for; a way back changes nothing, since
    /// that other origin has chosen where it goes.
    private(set) var isForeignOrigin = false

    /// Which slots the current hop takes.
    var place: FetchTicket.Place {
        FetchTicket.Place(origin: url.origin, rule: hopRule ?? job.request.rule, client: client)
    }

    /// The rule for where a redirect has led, if that bounds how many fetches run at once.
    private var hopRule: OriginRule?

    /// The client that the fetch counts for.
    var client: ClientID?

    /// Whether the current hop's request has gone out.
    var hasSentRequest: Bool { clock?.isConnecting == false }

    /// Forgets the last hop and starts the next one's deadlines.
    /// - Parameter isAlone: whether nobody else may use the hop's connection.
    func beginHop(at now: ContinuousClock.Instant, isAlone: Bool) {
        self.isAlone = isAlone
        if isAlone { needsFreshConnection = true }
        verdict = .open
        head = OriginHeadReader(maxBytes: rules.configuration.maxHeadBytes)
        arrivedBytes = 0
        crumbs.removeAll(keepingCapacity: true)
        bodyBytes = 0
        content = nil
        hasNews = false
        decoder = nil
        didRefuseAddress = false
        didOpenSocket = false
        openedSockets = []
        usedSocket = nil
        countedSocket = nil
        bytesBefore = -1
        connectionFault = nil
        hasTriedAddress = false
        if clock == nil { clock = TransferClock(configuration: rules.configuration, startedAt: now) }
        clock?.beginHop(at: now)
    }

    /// Turns to where a redirect leads.
    func follow(_ target: SourceURL) {
        if let redirectHead { job.receiver.redirected(by: redirectHead, to: target) }
        redirectHead = nil
        url = target
        // Lost: that no telling which rule is about it; the receiver refuses the answer then.
        hopRule = (try? job.request.rules.rule(for: target)).flatMap { $0.maxConcurrent == nil ? nil : $0 }
        redirects += 1
        needsFreshConnection = false
        if url.origin != job.request.url.origin { isForeignOrigin = true }
    }

    /// Has the same hop begin again on a connection that nobody has used.
    func startAfresh() {
        needsFreshConnection = true
    }

    /// Counts another try of the same hop.
    func retry() {
        retries += 1
    }

    /// The connection stands and the request goes out.
    func requestSent(at now: ContinuousClock.Instant) {
        clock?.requestSent(at: now)
    }

    /// The rest of the response is of no use.
    func drain(at now: ContinuousClock.Instant) {
        clock?.drain(at: now)
    }

    /// Some of the response came; `bodyBytes` of it belong to the body.
    func received(bodyBytes: Int, at now: ContinuousClock.Instant) {
        clock?.received(bodyBytes: bodyBytes, at: now)
    }

    /// Which deadline has passed.
    func passedDeadline(at now: ContinuousClock.Instant) -> LoadError.Phase? {
        clock?.check(at: now)
    }

    /// Answers the call; the transfer is over.
    func finish(_ result: Result<LoadSummary, LoadError>) {
        continuation.resume(returning: result)
    }
}
