// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One fetch under way: yields head, growing body and completion, in this order, to whoever follows it.
///
/// Called by the loader on its own thread; followed from any task. The body's first bytes decide whether it is an
/// image at all, before the rest is fetched.
final class OriginalFetch: OriginReceiving {
    private struct State {
        var head: OriginHead?
        var verdict: FreshnessPolicy.Verdict?
        var redirects: [OriginHead] = []
        var refusal: OriginHead?
        var lastHop: SourceURL.Origin?
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
    let urgency = FetchUrgency(.low)

    /// When it was begun.
    let start = ContinuousClock.now

    private let decodable: Set<ImageFormat>
    private let maxBytes: Int
    private let judge: @Sendable (OriginHead, [OriginHead]) -> FreshnessPolicy.Verdict
    private let state = Mutex(State())

    /// Prepares to receive.
    /// - Parameters:
    ///   - body: empty.
    ///   - place: of `body`.
    ///   - decodable: formats that are let through.
    ///   - maxBytes: a declared length beyond it ends the fetch before a byte of the body.
    ///   - judge: says of a response with this head, after these redirects, whether others than those who wait may have it.
    init(
        body: GrowingBody, place: SpillPlace, decodable: Set<ImageFormat>, maxBytes: Int,
        judge: @escaping @Sendable (OriginHead, [OriginHead]) -> FreshnessPolicy.Verdict
    ) {
        self.body = body
        self.place = place
        self.decodable = decodable
        self.maxBytes = maxBytes
        self.judge = judge
    }

    /// The head, once it is there.
    var head: OriginHead? { state.withLock(\.head) }

    /// What the head says of the response's reuse, to who asked without proving who that is; nil until it is there.
    var verdict: FreshnessPolicy.Verdict? { state.withLock(\.verdict) }

    /// The heads of the redirects that led here, in order; the loader bounds how many.
    var redirects: [OriginHead] { state.withLock(\.redirects) }

    /// The head of the last answer that was no success, if there was one.
    var refusal: OriginHead? { state.withLock(\.refusal) }

    /// Where the last redirect led; nil without one.
    var lastHop: SourceURL.Origin? { state.withLock(\.lastHop) }

    /// The body's format, once enough of it is there.
    var format: ImageFormat? { state.withLock(\.format) }

    func redirected(by head: OriginHead, to target: SourceURL) {
        state.withLock { state in
            state.redirects.append(head)
            state.lastHop = target.origin
        }
    }

    func refused(by head: OriginHead) {
        state.withLock { $0.refusal = head }
    }

    func receive(head: OriginHead) throws(LoadError) {
        if let length = head.contentLength, length > maxBytes { throw .tooLarge }
        let verdict = judge(head, redirects)
        let isShareable = !verdict.directives.forbidStoring
        let observers = state.withLock { state in
            state.head = head
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
    /// Not those of a drawing, which go out as pixels only; nor where the origin's end alone is missing.
    func caughtUp() {
        let count = body.count
        let followers = state.withLock { state in
            guard !state.isArriving, let format = state.format, format != .svg,
                let head = state.head, head.contentLength ?? .max > count
            else { return [@Sendable () -> Void]() }
            state.isArriving = true
            defer { state.followers = [] }
            return state.followers
        }
        for follower in followers { follower() }
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
        guard let format = ImageFormat(sniffing: body.prefix) else { throw .notAnImage }
        guard decodable.contains(format) else { throw .unsupportedFormat(format.rawValue) }
        state.withLock { $0.format = format }
        return format
    }
}
