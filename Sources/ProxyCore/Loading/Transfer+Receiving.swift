// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What libcurl calls while a hop is under way.
///
/// Each answer `false` ends the hop; the verdict or the failure is set then.
extension Transfer {
    /// Whether the hop's name may be looked up; asked where no address is known yet.
    func mayLookUp() -> Bool {
        guard url.literalAddress == nil, !isLookingUp else { return true }
        guard rules.lookUps.begin() else {
            verdict = .refused(.queueFull)
            return false
        }
        isLookingUp = true
        return true
    }

    /// The hop's name has been looked up, or nobody wants to know any more.
    func endLookUp() {
        if isLookingUp { rules.lookUps.end() }
        isLookingUp = false
    }

    /// Whether a socket to `address` may be opened; asked for each address before it is tried.
    func mayConnect(to address: IPAddress?) -> Bool {
        endLookUp()
        hasTriedAddress = true
        guard rules.permits(address, for: url) else {
            didRefuseAddress = true
            return false
        }
        didOpenSocket = true
        return true
    }

    /// There was no socket, with this `errno`: where the machine has no more to give, the origin is not to blame.
    func noSocket(_ code: CInt) {
        if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) { verdict = .refused(.queueFull) }
    }

    /// libcurl has got this socket to connect with.
    func opened(_ socket: CInt) {
        openedSockets.append(socket)
    }

    /// Whether the request may go over this connection; asked before each request, also on one that is used again.
    func maySend(over ends: ConnectionEnds?) -> Bool {
        guard rules.permits(ends?.remote, for: url) else {
            verdict = .refused(addressError)
            return false
        }
        connectionFault = fault(of: ends)
        guard connectionFault == nil else { return false }
        handle?.noteSession()
        let now = ContinuousClock.now
        (requestTime, requestInstant) = (rules.wallClock(), now)
        requestSent(at: now)
        return true
    }

    /// Takes a line of the head.
    func receive(headLine line: UnsafeRawBufferPointer) -> Bool {
        guard head.hasBegun || !isAnsweredTooSoon else {
            connectionFault = .tainted
            return false
        }
        received(bodyBytes: 0, at: .now)
        switch unsafe head.read(line) {
        case .more: return true
        case .tooLarge: return refuse(.incomplete("head larger than fetch.maxHeadBytes"))
        case .noStatusLine:
            return refuse(.incomplete("no status line of a version that the connection speaks"))
        case .complete(let status): return decide(status)
        }
    }

    /// Takes a piece of the body as it was sent, but for `chunked`.
    ///
    /// libcurl calls for each chunk, a million times in one go where an origin sends chunks of one byte: pieces below a page
    /// are put together first, or the other fetches would wait that long.
    func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        arrivedBytes += bytes.count
        guard case .delivering = verdict else {
            received(bodyBytes: bytes.count, at: .now)
            return arrivedBytes <= rules.configuration.maxHeadBytes.bytes
        }
        let most = content?.maxPackedBytes ?? rules.configuration.maxBytes.bytes
        guard arrivedBytes <= most else { return refuse(.tooLarge) }
        if bytes.count < Self.page {
            unsafe crumbs.append(contentsOf: bytes)
            return crumbs.count < Self.page || passesCrumbs()
        }
        return unsafe passesCrumbs() && passes(bytes)
    }

    /// Bytes that are worth a call of their own.
    private static let page = 4_096

    /// Hands on what small pieces have come to; false ends the hop.
    private func passesCrumbs() -> Bool {
        guard !crumbs.isEmpty else { return true }
        defer { crumbs.removeAll(keepingCapacity: true) }
        return unsafe crumbs.withUnsafeBytes { unsafe passes($0) }
    }

    private func passes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        received(bodyBytes: bytes.count, at: .now)
        do throws(LoadError) {
            try unsafe decode(bytes)
            return true
        } catch {
            return refuse(error)
        }
    }

    /// Hands over what has not been yet, when libcurl says that the body is complete.
    /// - Throws: why it is not.
    func finishBody() throws(LoadError) {
        guard deliveredStatus != 304 else { return }
        guard passesCrumbs() else { throw verdict.error }
        guard OriginHead.isDelimited(head.fields) || handle?.mayBeCut == false else {
            throw .incomplete("a body that ends with its connection, while TLS does not")
        }
        try content?.finish()
        guard var decoder else { return }
        guard let rest = decoder.finish() else { throw .incomplete("base64 that breaks off") }
        try hand(rest)
    }

    /// Tells the receiver that no more is at hand for now, if something has come since; false ends the hop.
    func tellOfNews() -> Bool {
        guard passesCrumbs() else { return false }
        if case .delivering = verdict, !isWithinBytes { return refuse(.tooLarge) }
        guard hasNews else { return true }
        hasNews = false
        job.receiver.caughtUp()
        return true
    }

    // MARK: - Steps

    /// Undoes content codings, then base64, where the body has them.
    private func decode(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
        guard let content else { return try unsafe decodeText(bytes) }
        try unsafe content.take(bytes) { (piece) throws(LoadError) in try unsafe decodeText(piece) }
    }

    private func decodeText(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
        bodyBytes += bytes.count
        guard var decoder else { return try unsafe hand(bytes) }
        guard let decoded = unsafe decoder.decode(bytes) else { throw .incomplete("no base64") }
        self.decoder = decoder
        try hand(decoded)
    }

    private func hand(_ bytes: [UInt8]) throws(LoadError) {
        let handed: Result<Void, LoadError> = unsafe bytes.withUnsafeBytes { bytes in
            Result { () throws(LoadError) in try unsafe hand(bytes) }
        }
        try handed.get()
    }

    private func hand(_ bytes: UnsafeRawBufferPointer) throws(LoadError) {
        guard unsafe !bytes.isEmpty else { return }
        try unsafe job.receiver.receive(bytes: bytes)
        hasNews = true
    }

    /// What a status means for a `GET` that asked for no part and offered no upgrade.
    private func decide(_ status: Int) -> Bool {
        guard status != OriginHeadReader.switchingProtocols else {
            return refuse(.incomplete("a protocol that was not asked for"))
        }
        guard !OriginHead.contradictsItself(head.fields) else {
            return refuse(.incomplete("a length that is none, or two for one body"))
        }
        guard !head.hidesFraming else {
            return refuse(.incomplete("a length or coding that libcurl did not see"))
        }
        guard ContentCoding.isPlainlyTransferred(head.fields) else {
            return refuse(.incomplete("a transfer coding that was not asked for"))
        }
        let head = OriginHead(
            status: status, fields: head.fields, contentLength: OriginHead.contentLength(in: head.fields),
            requestTime: requestTime, responseTime: rules.wallClock(),
            delay: requestInstant.map { $0.duration(to: .now).components.seconds })
        let rule = job.request.rule
        switch status {
        case _ where rule?.accepts(status: status) ?? OriginRule.successes.contains(status):
            guard rule?.accepts(contentType: head.values(of: "content-type").first) ?? true else {
                return drop(head, .refused(.notAnImage))
            }
            return deliver(head)
        case 304 where job.request.isConditional(at: url):
            return deliver(head)
        case 301, 302, 303, 307, 308:
            redirectHead = head
            return drop(head, .redirect(head.values(of: "location").first))
        case 204, 205: return drop(head, .refused(.notAnImage))
        case 206: return drop(head, .refused(.incomplete("a part that was not asked for")))
        default: return drop(head, .refused(.status(status, retryAfter: retryAfter(of: head))))
        }
    }

    /// Seconds within `fetch.maxRetryAfter`; nil where the origin says none, or none is passed on.
    private func retryAfter(of head: OriginHead) -> Int? {
        let longest = rules.configuration.maxRetryAfter.seconds
        return longest > 0 ? head.retryAfter.map { min($0, longest) } : nil
    }

    private func deliver(_ head: OriginHead) -> Bool {
        if let length = head.contentLength, head.status != 304, length > rules.configuration.maxBytes.bytes {
            return refuse(.tooLarge)
        }
        verdict = .delivering
        deliveredStatus = head.status
        // No body belongs to it, but HTTP/2 has to say that none comes.
        if head.status == 304 { drain(at: .now) }
        var head = head
        if job.request.rule?.decodesBase64 == true {
            decoder = Base64()
            head.contentLength = nil
        }
        do throws(LoadError) {
            let codings = head.status == 304 ? [] : try ContentCoding.list(in: head.fields)
            content = ContentDecoder(codings, maxBytes: rules.configuration.maxBytes.bytes)
            try job.receiver.receive(head: head)
            return true
        } catch {
            return refuse(error)
        }
    }

    /// Lets a body that nobody wants pass, so that its connection can be used again, if it is known to be short; and for a
    /// moment only (`TransferClock.drain`).
    private func drop(_ head: OriginHead, _ verdict: Verdict) -> Bool {
        self.verdict = verdict
        job.receiver.refused(by: head)
        drain(at: .now)
        guard let length = head.contentLength else { return false }
        return length <= rules.configuration.maxHeadBytes.bytes
    }

    private func refuse(_ error: LoadError) -> Bool {
        verdict = .refused(error)
        return false
    }
}
