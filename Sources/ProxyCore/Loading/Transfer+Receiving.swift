// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What libcurl calls while a hop is under way.
///
/// Each answer `false` ends the hop; the verdict or the failure is set then.
extension Transfer {
    /// Whether a socket to `address` may be opened; asked for each address before it is tried.
    func mayConnect(to address: IPAddress?) -> Bool {
        guard rules.permits(address, for: url) else {
            didRefuseAddress = true
            return false
        }
        didOpenSocket = true
        return true
    }

    /// Whether the request may go to `address`; asked before each request, also on a connection that is used again.
    func maySend(to address: IPAddress?) -> Bool {
        guard rules.permits(address, for: url) else {
            verdict = .refused(.addressForbidden)
            return false
        }
        requestTime = Self.secondsSince1970
        requestSent(at: .now)
        return true
    }

    /// Takes a line of the head.
    func receive(headLine line: UnsafeRawBufferPointer) -> Bool {
        received(bodyBytes: 0, at: .now)
        switch unsafe head.read(line) {
        case .more: return true
        case .tooLarge: return refuse(.incomplete("head larger than fetch.maxHeadBytes"))
        case .complete(let status): return decide(status)
        }
    }

    /// Takes a piece of the decoded body.
    func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        bodyBytes += bytes.count
        received(bodyBytes: bytes.count, at: .now)
        guard case .delivering = verdict else { return bodyBytes <= rules.configuration.maxHeadBytes.bytes }
        guard bodyBytes <= rules.configuration.maxBytes.bytes else { return refuse(.tooLarge) }
        return decoder == nil ? unsafe hand(bytes) : unsafe decode(bytes)
    }

    /// Hands over what has not been yet, when libcurl says that the body is complete.
    /// - Throws: why it is not.
    func finishBody() throws(LoadError) {
        guard var decoder, deliveredStatus != 304 else { return }
        guard let rest = decoder.finish() else { throw .incomplete("base64 that breaks off") }
        guard unsafe rest.withUnsafeBytes({ unsafe hand($0) }) else { throw verdict.error }
    }

    /// Tells the receiver that no more is at hand for now, if it has got something since.
    func tellOfNews() {
        guard hasNews else { return }
        hasNews = false
        job.receiver.caughtUp()
    }

    // MARK: - Steps

    private func decode(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard var decoder, let decoded = unsafe decoder.decode(bytes) else {
            return refuse(.incomplete("no base64"))
        }
        self.decoder = decoder
        return unsafe decoded.withUnsafeBytes { unsafe hand($0) }
    }

    private func hand(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard unsafe !bytes.isEmpty else { return true }
        do {
            try unsafe job.receiver.receive(bytes: bytes)
            hasNews = true
            return true
        } catch {
            return refuse(error)
        }
    }

    /// What a status means for a `GET` that asked for no part and offered no upgrade.
    private func decide(_ status: Int) -> Bool {
        guard !OriginHead.contradictsItself(head.fields) else {
            return refuse(.incomplete("a length that is none, or two for one body"))
        }
        let head = OriginHead(
            status: status, fields: head.fields, contentLength: OriginHead.contentLength(in: head.fields),
            requestTime: requestTime, responseTime: Self.secondsSince1970)
        let rule = job.request.rule
        switch status {
        case _ where rule?.accepts(status: status) ?? OriginRule.successes.contains(status):
            guard rule?.accepts(contentType: head.values(of: "content-type").first) ?? true else {
                return drop(head, .refused(.notAnImage))
            }
            return deliver(head)
        case 304 where job.request.ifNoneMatch != nil || job.request.ifModifiedSince != nil:
            return deliver(head)
        case 301, 302, 303, 307, 308:
            redirectHead = head
            return drop(head, .redirect(head.values(of: "location").first))
        case 204, 205: return drop(head, .refused(.notAnImage))
        case 206: return drop(head, .refused(.incomplete("a part that was not asked for")))
        default: return drop(head, .refused(.status(status, retryAfter: head.retryAfter)))
        }
    }

    private func deliver(_ head: OriginHead) -> Bool {
        if let length = head.contentLength, head.status != 304, length > rules.configuration.maxBytes.bytes {
            return refuse(.tooLarge)
        }
        verdict = .delivering
        deliveredStatus = head.status
        var head = head
        if job.request.rule?.decodesBase64 == true {
            decoder = Base64()
            head.contentLength = nil
        }
        do {
            try job.receiver.receive(head: head)
            return true
        } catch {
            return refuse(error)
        }
    }

    /// Lets a body that nobody wants pass, so that its connection can be used again, if it is known to be short.
    private func drop(_ head: OriginHead, _ verdict: Verdict) -> Bool {
        self.verdict = verdict
        job.receiver.refused(by: head)
        guard let length = head.contentLength else { return false }
        return length <= rules.configuration.maxHeadBytes.bytes
    }

    private func refuse(_ error: LoadError) -> Bool {
        verdict = .refused(error)
        return false
    }

    private static var secondsSince1970: Int64 { Int64(time(nil)) }
}
