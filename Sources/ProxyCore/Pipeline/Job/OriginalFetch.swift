// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness
import Imaging
import Loading
import Origins
import Primitives
import Synchronization
import URLs

/// What one fetch has received so far: heads, the body, its format, and why it failed.
///
/// The loader calls it on its own thread. Any task may read it, or wait until the head has forbidden to share it and until
/// bytes may go out; that the fetch has ended is the result of its task in `ImagePipeline.fetches`. The body's first bytes
/// decide whether it is an image at all, before the rest is fetched.
final class OriginalFetch: OriginReceiving {
    /// What has been received so far, but for the body's bytes.
    struct Received: Sendable {
        /// The head, once it is there.
        var head: OriginHead?
        /// When the head was there; as long as it is not, when the fetch was begun.
        var receivedAt = ContinuousClock.now
        /// What the head says of the response's reuse; nil until it is there.
        var verdict: FreshnessPolicy.Verdict?
        /// The heads of the redirects that led here, in order; the loader bounds how many.
        var redirects: [OriginHead] = []
        /// The families of the addresses that connections were tried to.
        var families: AddressFamilies = []
        /// The head of the last answer that was no success, if there was one.
        var refusal: OriginHead?
        /// Where the last redirect led; nil without one.
        var finalURL: SourceURL?
        /// What the rules for the redirects' targets restrict.
        var hops: HopRules
        /// The body's format, once enough of it is there.
        var format: ImageFormat?
        /// Why the fetch failed; nil as long as it has not.
        var failure: LoadError?

        /// The origin that the last redirect led to; nil without one.
        var lastHop: SourceURL.Origin? { finalURL?.origin }
    }

    /// Set as soon as the head says that no other client may have this response.
    let unshareable = Promise<Void>()

    /// Set as soon as the bytes may go out while they are received.
    let streaming = Promise<Void>()

    /// The body as it arrives; empty for a 304.
    let body: PartialBody

    /// The file that it outgrew its buffer into, if any.
    let place: SpillTarget

    /// The clients that wait for it, and its priority.
    let waiters: Waiters

    /// When it was begun.
    let start = ContinuousClock.now

    /// Voided by a purge: what is received is then stored nowhere.
    let token: PurgeToken

    private let decodable: [ImageFormat]
    private let maxBytes: Int
    private let decideReuse: @Sendable (OriginHead, [OriginHead]) -> FreshnessPolicy.Verdict
    private let state: Mutex<Received>

    /// Prepares to receive.
    /// - Parameters:
    ///   - body: empty.
    ///   - place: of `body`.
    ///   - decodable: formats that are let through.
    ///   - maxBytes: a declared length beyond it ends the fetch before a byte of the body.
    ///   - token: issued before the origin request.
    ///   - rules: those of which a redirect's target may have one.
    ///   - waiters: with the client that begins it.
    ///   - decideReuse: decides, from the head after these redirects, whether the response may be shared with later requests.
    init(
        body: PartialBody, place: SpillTarget, decodable: [ImageFormat], maxBytes: Int,
        token: PurgeToken, rules: OriginRules = .none, waiters: Waiters = Waiters(nil, .low),
        decideReuse: @escaping @Sendable (OriginHead, [OriginHead]) -> FreshnessPolicy.Verdict
    ) {
        self.body = body
        self.place = place
        self.decodable = decodable
        self.maxBytes = maxBytes
        self.token = token
        self.waiters = waiters
        self.decideReuse = decideReuse
        state = Mutex(Received(hops: HopRules(rules)))
    }

    /// What has been received so far.
    var received: Received { state.withLock { $0 } }

    /// The origin of the failed hop: the last redirect's target, a refused target, or the proxy; nil if it is
    /// the source's own.
    func hop(from url: SourceURL, of source: SourceURL, after error: LoadError) -> SourceURL.Origin? {
        let origin = error.failedHop ?? received.lastHop ?? url.origin
        return origin == source.origin ? nil : origin
    }

    func connecting(to address: IPAddress) {
        state.withLock { _ = $0.families.insert(address.isIPv4 ? .ipv4 : .ipv6) }
    }

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
            try received.hops.check(head)
        } catch {
            switch error {
            case .ambiguous: throw .redirectForbidden("more than one origin rule may be about it")
            case .status: throw .status(head.status, retryAfter: nil)
            case .mediaType: throw .refused(mediaType: head.values(of: "content-type").first)
            }
        }
        if let length = head.contentLength {
            guard length <= maxBytes else { throw .tooLarge }
            if head.status != 304 {
                try LoadError.translated { () throws(BodyError) in try body.expect(length) }
            }
        }
        let verdict = decideReuse(head, received.redirects)
        state.withLock { state in
            state.head = head
            state.receivedAt = .now
            state.verdict = verdict
        }
        if verdict.directives.forbidStoring { unshareable.set(()) }
    }

    func receive(bytes: UnsafeRawBufferPointer) throws(LoadError) {
        try LoadError.translated { () throws(BodyError) in try unsafe body.append(bytes) }
        if state.withLock(\.format) == nil, body.count >= ImageFormat.sniffLength { try sniff() }
    }

    /// The format is known, and the rest is not there yet: the bytes may go out as they come.
    ///
    /// Not where the origin's end alone is missing.
    func didDrain() {
        let count = body.count
        stream { $0.head?.contentLength ?? .max > count }
    }

    /// All bytes are there, and the origin has ended as it should: they may go out before they are stored.
    ///
    /// Not those of a small image, which is stored in no time.
    /// - Returns: whether this call notified a follower.
    func didReceiveAll() -> Bool {
        guard body.count > PartialBody.Configuration().memoryLimit.bytes else { return false }
        return stream { _ in true }
    }

    /// Notifies the followers, once.
    ///
    /// Never of a drawing, which goes out as pixels only, nor of what a rule wants changed; nor before a place for all that
    /// may follow is certain, since a client that has the first bytes can't be refused any more.
    @discardableResult
    private func stream(where isReady: (Received) -> Bool) -> Bool {
        guard streaming.value == nil else { return false }
        let mayStream = state.withLock { state in
            guard let format = state.format, !format.traits.isDrawing, state.head != nil,
                !state.hops.changesBytes
            else { return false }
            return isReady(state)
        }
        return mayStream && hasPlace && streaming.set(())
    }

    /// Whether there is a place for a body of any length; for a declared length it was secured before.
    private var hasPlace: Bool {
        guard received.head?.contentLength == nil else { return true }
        // Ignored: why there is none; a caller that waits for the whole body learns of it if the body then needs one.
        return (try? body.secureSpill()) != nil
    }

    /// Ends the body, for this reason.
    func fail(_ error: LoadError) {
        state.withLock { $0.failure = error }
        body.fail()
    }

    /// Compares the magic bytes; called again at the end, since a body may be shorter than any magic.
    @discardableResult
    func sniff() throws(LoadError) -> ImageFormat {
        if let format = state.withLock(\.format) { return format }
        guard let format = ImageFormat(sniffing: body.prefix) else {
            throw UnreadableFormat(sniffing: body.prefix).map { .unsupportedFormat($0.rawValue) }
                ?? .notAnImage("")
        }
        guard decodable.contains(format) else { throw .unsupportedFormat(format.rawValue) }
        state.withLock { $0.format = format }
        return format
    }
}
