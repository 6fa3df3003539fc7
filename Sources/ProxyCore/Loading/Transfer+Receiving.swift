// SPDX-License-Identifier: Apache-2.0

import Freshness
import Glibc
import Origins
import Primitives
import URLs

/// The functions that libcurl's callbacks call during a hop.
///
/// Each result `false` ends the hop; the verdict or the failure is set by then.
extension Transfer {
    /// Whether the hop's name may be looked up; called if its address is not cached.
    func mayLookUp() -> Bool {
        guard url.literalAddress == nil, !isLookingUp else { return true }
        lookUp = rules.lookUps.begin(for: job.request.waiters.current.clients)
        if lookUp == nil { hop.verdict = .refused(.queueFull) }
        return lookUp != nil
    }

    /// The look-up has ended, or libcurl waits for it no longer.
    func endLookUp() {
        if let lookUp { rules.lookUps.end(lookUp) }
        lookUp = nil
    }

    /// Whether a socket to `address` may be opened; called before each address is tried.
    func mayConnect(to address: IPAddress?) -> Bool {
        endLookUp()
        guard !isAbandoned else { return false }
        activity.noteTriedAddress()
        guard rules.permits(address, for: url) else {
            hop.didRefuseAddress = true
            return false
        }
        hop.didOpenSocket = true
        if let address { job.receiver.connecting(to: address) }
        return true
    }

    /// The socket could not be created, with this `errno`: if the machine lacks resources, the failure is not
    /// the origin's.
    func noSocket(_ code: CInt) {
        if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) { hop.verdict = .refused(.queueFull) }
    }

    /// libcurl got this socket to connect with.
    func opened(_ socket: CInt) {
        hop.openedSockets.append(socket)
    }

    /// Whether the request may be sent over this connection; called before each request, also on a reused
    /// connection.
    func maySend(over ends: ConnectionEnds?) -> Bool {
        noteActivity()
        guard rules.permits(ends?.remote, for: url) else {
            hop.verdict = .refused(addressError)
            return false
        }
        hop.connectionFault = fault(of: ends)
        guard hop.connectionFault == nil else { return false }
        handle?.noteSession()
        let now = rules.clocks.monotonic()
        (hop.requestTime, hop.requestInstant) = (rules.clocks.wall(), now)
        clock?.requestSent(at: now)
        return true
    }

    func receive(headLine line: UnsafeRawBufferPointer) -> Bool {
        noteActivity()
        guard hop.head.hasBegun || !isAnsweredTooSoon else {
            hop.connectionFault = .tainted
            return false
        }
        clock?.received(bodyBytes: 0, at: rules.clocks.monotonic())
        switch unsafe hop.head.read(line) {
        case .more: return true
        case .tooLarge:
            return refuse(
                .incomplete(
                    "head larger than fetch.maxHeadBytes, or of more than \(OriginHeadReader.maxLines) lines")
            )
        case .noStatusLine:
            return refuse(.incomplete("no status line of a version that the connection speaks"))
        case .complete(let status): return decide(status)
        }
    }

    /// Receives a piece of the body as it was sent, without `chunked`.
    ///
    /// libcurl calls this for each chunk, and for at most 16 KiB. Pieces below a page are collected first, and so are larger
    /// ones, once the body is too long for memory: a file takes few large writes with half the work of many small ones.
    func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        noteActivity()
        hop.receivedBytes += bytes.count
        guard case .delivering = hop.verdict else {
            clock?.received(bodyBytes: bytes.count, at: rules.clocks.monotonic())
            return hop.receivedBytes <= rules.configuration.maxHeadBytes.bytes
        }
        let most = hop.content?.maxPackedBytes ?? rules.configuration.maxBytes.bytes
        guard hop.receivedBytes <= most else { return refuse(.tooLarge) }
        if let content = hop.content {
            clock?.received(bodyBytes: bytes.count, at: rules.clocks.monotonic())
            if !content.hasWork { activity.noteWaiting(job.id) }
            unsafe content.add(bytes)
            return true
        }
        let portion = hop.receivedBytes <= Self.promptBytes ? Self.page : Self.portion
        if hop.smallChunks.count + bytes.count > portion, !passesSmallChunks() { return false }
        guard bytes.count < portion else { return unsafe passes(bytes) }
        hop.smallChunks.reserveCapacity(portion)
        unsafe hop.smallChunks.append(contentsOf: bytes)
        return true
    }

    /// Whether libcurl has to keep the next piece until the body's turn comes (`goOn`): until more of it is decoded, or after
    /// many pieces in a row. It would else read on for as long as the origin sends: a million chunks of one byte.
    func mustPause() -> Bool {
        hop.pieces += 1
        guard hop.content?.isFull == true || hop.pieces > Self.mostPieces else { return false }
        hop.isPaused = true
        if !isDecoding { activity.noteWaiting(job.id) }
        return true
    }

    /// The pieces of a body that are received in a turn: up to 2 MiB.
    private static let mostPieces = 128

    /// Whether a part of the body has been received and not been decoded.
    var isDecoding: Bool { hop.content?.hasWork == true }

    /// Decodes the next part of a body in a content coding, and lets libcurl go on once all is decoded; false ends the hop.
    func goOn() -> Bool {
        noteActivity()
        guard let content = hop.content, content.hasWork else { return resume() }
        // The origin is not slow while its bytes wait here.
        clock?.received(bodyBytes: rules.configuration.lowSpeed.bytes, at: rules.clocks.monotonic())
        do throws(LoadError) {
            try unsafe content.decodePart { (piece) throws(LoadError) in try unsafe decodeText(piece) }
        } catch {
            return refuse(error)
        }
        guard !content.hasWork else {
            activity.noteWaiting(job.id)
            return true
        }
        return resume()
    }

    private func resume() -> Bool {
        guard hop.isPaused else { return true }
        (hop.isPaused, hop.pieces) = (false, 0)
        return handle?.resume() ?? true
    }

    /// The minimum number of bytes that are processed at once, if more are there.
    private static let page = 4_096
    /// The same behind the first `promptBytes` of a body; each running fetch of a longer one holds so much.
    private static let portion = 128 << 10
    /// As many bytes as a body in memory may have (`PartialBody.Configuration`).
    private static let promptBytes = 64 << 10

    /// Processes the collected small pieces; false ends the hop.
    private func passesSmallChunks() -> Bool {
        guard !hop.smallChunks.isEmpty else { return true }
        // Out of the hop meanwhile, which `passes` changes.
        var chunks: [UInt8] = []
        swap(&chunks, &hop.smallChunks)
        defer {
            chunks.removeAll(keepingCapacity: true)
            swap(&chunks, &hop.smallChunks)
        }
        return unsafe chunks.withUnsafeBytes { unsafe passes($0) }
    }

    private func passes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        clock?.received(bodyBytes: bytes.count, at: rules.clocks.monotonic())
        do throws(LoadError) {
            try unsafe decodeText(bytes)
            return true
        } catch {
            return refuse(error)
        }
    }

    /// Processes the remaining bytes when libcurl reports that the body is complete.
    /// - Throws: why it is not complete.
    func finishBody() throws(LoadError) {
        // Neither has a body (RFC 9110 §15.3.5, §15.4.5).
        guard deliveredStatus != 304, deliveredStatus != 204 else { return }
        guard passesSmallChunks() else { throw hop.verdict.error }
        guard OriginHead.isDelimited(hop.head.fields) || (hop.ending?.mayBeCut ?? handle?.mayBeCut) == false
        else { throw .incomplete("a body that ends with its connection, while TLS does not") }
        try hop.content?.finish()
        guard hop.decoder != nil else { return }
        guard let rest = hop.decoder?.finish() else { throw .incomplete("base64 that breaks off") }
        try deliver(rest)
    }

    /// Notifies the receiver that no more bytes are available now, if it got some since the last call; false
    /// ends the hop.
    func notifyProgress() -> Bool {
        (hop.isActive, hop.pieces) = (false, 0)
        guard passesSmallChunks() else { return false }
        if case .delivering = hop.verdict, !isWithinBytes { return refuse(.tooLarge) }
        guard hop.hasProgress else { return true }
        hop.hasProgress = false
        job.receiver.didDrain()
        return true
    }

    // MARK: - Steps

    /// Decodes base64, if the body is in it.
    private func decodeText(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
        hop.bodyBytes += bytes.count
        guard hop.decoder != nil else { return try unsafe deliver(bytes) }
        guard let decoded = unsafe hop.decoder?.decode(bytes) else { throw .incomplete("no base64") }
        try deliver(decoded)
    }

    private func deliver(_ bytes: [UInt8]) throws(LoadError) {
        try unsafe bytes.withBytes { (bytes) throws(LoadError) in try unsafe deliver(bytes) }
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
        guard unsafe !bytes.isEmpty else { return }
        try unsafe job.receiver.receive(bytes: bytes)
        hop.hasProgress = true
    }

    /// Decides by the status of the response to a request without `Range` and `Upgrade`.
    private func decide(_ status: Int) -> Bool {
        guard status != OriginHeadReader.switchingProtocols else {
            return refuse(.incomplete("a protocol that was not requested"))
        }
        guard !OriginHead.contradictsItself(hop.head.fields) else {
            return refuse(.incomplete("a length that is none, or two for one body"))
        }
        guard !hop.head.hidesFraming else {
            return refuse(.incomplete("a length or coding that libcurl did not see"))
        }
        guard ContentCoding.isPlainlyTransferred(hop.head.fields) else {
            return refuse(.incomplete("a transfer coding that was not requested"))
        }
        let head = OriginHead(
            status: status, fields: hop.head.fields,
            contentLength: OriginHead.contentLength(in: hop.head.fields),
            requestTime: hop.requestTime, responseTime: rules.clocks.wall(),
            delay: hop.requestInstant.map(rules.clocks.delay(since:)))
        let rule = job.request.rule
        switch status {
        // A service says by its status what became of a command, and why in the body.
        case _ where job.request.command != nil: return deliver(head)
        case _ where rule?.accepts(status: status) ?? OriginRule.successes.contains(status):
            let mediaType = head.values(of: "content-type").first
            guard rule?.accepts(contentType: mediaType) ?? true else {
                return drop(head, .refused(.refused(mediaType: mediaType)))
            }
            return deliver(head)
        case 304 where job.request.isConditional(at: url):
            return deliver(head)
        case 301, 302, 303, 307, 308:
            redirectHead = head
            return drop(head, .redirect(head.values(of: "location").first))
        case 204, 205:
            return drop(head, .refused(.notAnImage("the response has status \(status), and no content")))
        case 206: return drop(head, .refused(.incomplete("a part that was not requested")))
        default: return drop(head, .refused(.status(status, retryAfter: retryAfter(of: head))))
        }
    }

    /// Seconds within `fetch.maxRetryAfter`; nil if the origin sent none, or the setting passes none on.
    private func retryAfter(of head: OriginHead) -> Int? {
        let longest = rules.configuration.maxRetryAfter.seconds
        return longest > 0 ? head.retryAfter.map { min($0, longest) } : nil
    }

    private func deliver(_ head: OriginHead) -> Bool {
        if let length = head.contentLength, head.status != 304, length > rules.configuration.maxBytes.bytes {
            return refuse(.tooLarge)
        }
        hop.verdict = .delivering
        deliveredStatus = head.status
        // It has no body, but HTTP/2 has to signal that.
        if head.status == 304 { clock?.drain(at: rules.clocks.monotonic()) }
        var head = head
        if job.request.rule?.decodesBase64 == true {
            hop.decoder = Base64()
            head.contentLength = nil
        }
        do throws(LoadError) {
            let codings = head.status == 304 ? [] : try ContentCoding.list(in: head.fields)
            hop.content = ContentDecoder(codings, maxBytes: rules.configuration.maxBytes.bytes)
            try job.receiver.receive(head: head)
            return true
        } catch {
            return refuse(error)
        }
    }

    /// Reads an unneeded body so that its connection can be reused, if it is known to be short, and only for
    /// `TransferClock.drainTime`.
    private func drop(_ head: OriginHead, _ verdict: Verdict) -> Bool {
        hop.verdict = verdict
        job.receiver.refused(by: head)
        clock?.drain(at: rules.clocks.monotonic())
        guard let length = head.contentLength else { return false }
        return length <= rules.configuration.maxHeadBytes.bytes
    }

    private func refuse(_ error: LoadError) -> Bool {
        hop.verdict = .refused(error)
        return false
    }
}
