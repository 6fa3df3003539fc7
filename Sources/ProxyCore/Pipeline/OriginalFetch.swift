// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One fetch under way: yields head, growing body and completion, in this order, to whoever follows it.
///
/// Called by the loader on its own thread; followed from any task. The body's first bytes decide whether it is an
/// image at all, before the rest is fetched.
final class OriginalFetch: OriginReceiving {
    private struct State {
        var head: OriginHead?
        var arrived: ContinuousClock.Instant?
        var verdict: FreshnessPolicy.Verdict?
        var redirects: [OriginHead] = []
        var refusal: OriginHead?
        var finalURL: SourceURL?
        var hops: HopRules
        var format: ImageFormat?
        var isUnshareable = false
        var observers: [@Sendable () -> Void] = []
        var isArriving = false
        var followers: [@Sendable () -> Void] = []
    }

    /// The body as it arrives; empty for a 304.
    let body: GrowingBody

    /// The file that it outgrew its buffer into, if any.
    let place: SpillPlace

    /// How urgent it is, to the most impatient of those who follow it.
    let urgency = FetchUrgency(.low, client: FetchContext.current.client)

    /// When it was begun.
    let start = ContinuousClock.now

    /// Leave to store what arrives.
    let permit: PurgeLedger.Permit

    private let decodable: Set<ImageFormat>
    private let maxBytes: Int
    private let judge: @Sendable (OriginHead, [OriginHead]) -> FreshnessPolicy.Verdict
    private let state: Mutex<State>

    /// Prepares to receive.
    /// - Parameters:
    ///   - body: empty.
    ///   - place: of `body`.
    ///   - decodable: formats that are let through.
    ///   - maxBytes: a declared length beyond it ends the fetch before a byte of the body.
    ///   - permit: of before anything is asked.
    ///   - rules: those of which a redirect's target may have one.
    ///   - judge: says of a response with this head, after these redirects, whether others than those who wait may have it.
    init(
        body: GrowingBody, place: SpillPlace, decodable: Set<ImageFormat>, maxBytes: Int,
        permit: PurgeLedger.Permit, rules: OriginRules = .none,
        judge: @escaping @Sendable (OriginHead, [OriginHead]) -> FreshnessPolicy.Verdict
    ) {
        self.body = body
        self.place = place
        self.decodable = decodable
        self.maxBytes = maxBytes
        self.permit = permit
        self.judge = judge
        state = Mutex(State(hops: HopRules(rules)))
    }

    /// The head, once it is there.
    var head: OriginHead? { state.withLock(\.head) }

    /// When the head was there; as long as it is not, when the fetch was begun.
    var arrived: ContinuousClock.Instant { state.withLock(\.arrived) ?? start }

    /// What the head says of the response's reuse, to who asked without proving who that is; nil until it is there.
    var verdict: FreshnessPolicy.Verdict? { state.withLock(\.verdict) }

    /// The heads of the redirects that led here, in order; the loader bounds how many.
    var redirects: [OriginHead] { state.withLock(\.redirects) }

    /// The head of the last answer that was no success, if there was one.
    var refusal: OriginHead? { state.withLock(\.refusal) }

    /// Where the last redirect led; nil without one.
    var lastHop: SourceURL.Origin? { finalURL?.origin }

    /// The same as a whole.
    var finalURL: SourceURL? { state.withLock(\.finalURL) }

    /// Where the fetch of `url` has come by redirects; nil while that is the origin of `source`.
    func hop(from url: SourceURL, of source: SourceURL) -> SourceURL.Origin? {
        let origin = lastHop ?? url.origin
        return origin == source.origin ? nil : origin
    }

    /// What the rules for the redirects' targets restrict.
    var hops: HopRules { state.withLock(\.hops) }

    /// The body's format, once enough of it is there.
    var format: ImageFormat? { state.withLock(\.format) }

    func redirected(by head: OriginHead, to target: SourceURL) {
        state.withLock { state in
            state.redirects.append(head)
            state.finalURL = target
            state.hops.follow(target)
        }
    }

    func refused(by head: OriginHead) {
        state.withLock { $0.refusal = head }
    }

    func receive(head: OriginHead) throws(LoadError) {
        do throws(HopRules.Refusal) {
            try hops.check(head)
        } catch {
            switch error {
            case .ambiguous: throw .redirectForbidden("more than one origin rule may be about it")
            case .status: throw .status(head.status, retryAfter: nil)
            case .mediaType: throw .notAnImage
            }
        }
        if let length = head.contentLength {
            guard length <= maxBytes else { throw .tooLarge }
            if head.status != 304 { try body.expect(length) }
        }
        let verdict = judge(head, redirects)
        let isShareable = !verdict.directives.forbidStoring
        let observers = state.withLock { state in
            state.head = head
            state.arrived = .now
            state.verdict = verdict
            guard !isShareable else { return [@Sendable () -> Void]() }
            state.isUnshareable = true
            defer { state.observers = [] }
            return state.observers
        }
        for observer in observers { observer() }
    }

    /// Calls `observer` as soon as the head says that nobody else may have this response: later, now, or never.
    func whenUnshareable(_ observer: @escaping @Sendable () -> Void) {
        let isUnshareable = state.withLock { state in
            if state.head == nil { state.observers.append(observer) }
            return state.isUnshareable
        }
        if isUnshareable { observer() }
    }

    func receive(bytes: UnsafeRawBufferPointer) throws(LoadError) {
        try unsafe body.append(bytes)
        if format == nil, body.count >= ImageFormat.sniffLength { try sniff() }
    }

    /// The format is known, and the rest is not there yet: the bytes may go out as they come.
    ///
    /// Not where the origin's end alone is missing.
    func caughtUp() {
        let count = body.count
        arrive { $0.head?.contentLength ?? .max > count }
    }

    /// All bytes are there, and the origin has ended as it should: they may go out before they are stored.
    ///
    /// Not those of a small image, which is stored in no time.
    /// - Returns: whether this call told somebody.
    func hasArrived() -> Bool {
        guard body.count > GrowingBody.Configuration().memoryLimit.bytes else { return false }
        return arrive { _ in true }
    }

    /// Tells the followers, once.
    ///
    /// Never of a drawing, which goes out as pixels only, nor of what a rule wants changed; nor while it is not sure that there is a place for all that may
    /// follow, for who has the first bytes can't be refused any more.
    @discardableResult
    private func arrive(where isReady: (State) -> Bool) -> Bool {
        let mayArrive = state.withLock { state in
            guard !state.isArriving, let format = state.format, format != .svg, state.head != nil,
                !state.hops.changesBytes
            else { return false }
            return isReady(state)
        }
        guard mayArrive, hasPlace else { return false }
        let followers = state.withLock { state in
            state.isArriving = true
            defer { state.followers = [] }
            return state.followers
        }
        for follower in followers { follower() }
        return !followers.isEmpty
    }

    /// Whether there is a place for a body of any length; one that has told its length has made sure of that.
    private var hasPlace: Bool {
        guard head?.contentLength == nil else { return true }
        // Lost: why there is none; who waits for the whole body is told if it then needs one.
        return (try? body.secureSpill()) != nil
    }

    /// Calls `follower` as soon as the bytes may go out while they arrive: later, now, or never.
    func whenArriving(_ follower: @escaping @Sendable () -> Void) {
        let isArriving = state.withLock { state in
            if !state.isArriving { state.followers.append(follower) }
            return state.isArriving
        }
        if isArriving { follower() }
    }

    /// Compares the magic bytes; called again at the end, since a body may be shorter than any magic.
    @discardableResult
    func sniff() throws(LoadError) -> ImageFormat {
        if let format { return format }
        guard let format = ImageFormat(sniffing: body.prefix) else {
            throw ForeignFormat(sniffing: body.prefix).map { .unsupportedFormat($0.rawValue) } ?? .notAnImage
        }
        guard decodable.contains(format) else { throw .unsupportedFormat(format.rawValue) }
        state.withLock { $0.format = format }
        return format
    }
}
