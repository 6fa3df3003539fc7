// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

extension Connection {
    /// Goes as far as the bytes at hand and the client's own pace allow.
    func proceed() {
        // A streamed body that gave way to others.
        if case .streaming(let stream) = phase, !stream.isWaiting, pending.isEmpty { settle() }
        guard consumeRest() else { return loop.postpone(self) }
        var received = 0
        while isReadable, takesInput {
            guard received < Self.receivesPerTurn else { return loop.postpone(self) }
            received += 1
            receive()
            guard consumeRest() else { return loop.postpone(self) }
        }
        if endOfInput || peerHasFinished { finishInput() }
    }

    /// Most buffers of requests read from one connection before others get their turn.
    private static let receivesPerTurn = 1

    /// Whether more than the empty line that some clients send behind content has come in (RFC 9112 §2.2).
    var hasBegunHead: Bool {
        rest.contains { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
    }

    /// Whether a request can be read now: a client that does not take its answers, or waits for one, is not read from.
    private var takesInput: Bool {
        switch phase {
        case .readingHead, .readingContent: pending.isEmpty
        case .closing: true
        case .awaitingAnswer, .streaming, .closed: false
        }
    }

    private func receive() {
        let count = unsafe loop.receive(from: socket) { unsafe take($0) }
        if count <= 0 {
            isReadable = false
            endOfInput = endOfInput || count == 0 || errno != EAGAIN
        } else if count < EventLoop.receiveBytes, !peerHasFinished {
            // Otherwise the end was announced together with these bytes, and is not announced again.
            isReadable = false
        }
    }

    /// Consumes what has just been received, and keeps what is left over.
    private func take(_ bytes: UnsafeRawBufferPointer) {
        guard rest.isEmpty else { return unsafe rest.append(contentsOf: bytes) }
        let count = unsafe consume(bytes)
        if count < bytes.count { unsafe rest.append(contentsOf: bytes[count...]) }
        settle()
    }

    /// Consumes what was left over, at most `maxPipelined` requests of it.
    /// - Returns: false where more of it can be consumed: other connections have their turn first.
    private func consumeRest() -> Bool {
        guard !rest.isEmpty, takesInput else { return true }
        let bytes = rest
        let count = unsafe bytes.withUnsafeBytes { unsafe consume($0) }
        rest = count == bytes.count ? [] : Array(bytes[count...])
        settle()
        return count == 0 || rest.isEmpty || !takesInput
    }

    /// After a batch of requests: sends their answers, and sets the clock for what comes next.
    func settle() {
        flush()
        guard pending.isEmpty else { return }
        switch phase {
        case .readingHead: if !isEnlisted { loop.enlist(self) }
        case .readingContent:
            if !isEnlisted { loop.enlist(self) }
            return
        case .awaitingAnswer, .streaming, .closing, .closed: return
        }
        if rest.isEmpty {
            if loop.isDraining { return awaitLastRequest() }
            deadline =
                hasServed ? (.idle, loop.now + loop.times.idle) : (.header, loop.now + loop.times.header)
        } else if deadline.kind != .header || headBegan != answered {
            deadline = (.header, loop.now + loop.times.header)
            headBegan = answered
        }
    }

    /// Hot path: reads and answers requests until bytes or permission run out; returns how many bytes that took.
    private func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
        var consumed = 0
        while consumed < bytes.count, loop.outbox.answers < loop.configuration.maxPipelined,
            loop.outbox.bytesWaiting < loop.configuration.maxPipelinedBytes
        {
            let left = unsafe UnsafeRawBufferPointer(rebasing: bytes[consumed...])
            let count: Int
            switch phase {
            case .readingHead: count = unsafe readHead(left)
            case .readingContent(let content): count = unsafe readContent(left, content)
            case .closing, .closed: return bytes.count
            case .awaitingAnswer, .streaming: return consumed
            }
            if count == 0 { break }
            consumed += count
        }
        return consumed
    }

    private func readHead(_ bytes: UnsafeRawBufferPointer) -> Int {
        // Taken out of the loop for a while: what lies in an object has to be copied before it is lent to anybody.
        var request = HTTPRequest()
        swap(&request, &loop.request)
        defer { swap(&request, &loop.request) }
        switch unsafe parser.parse(bytes, into: &request) {
        case .needsMore: return 0
        case .failed(let error):
            refuse(error.rawValue, HTTPServer.RejectionReason(error), to: unsafe Self.method(of: bytes))
            return bytes.count
        case .refused(let error):
            note(&request)
            refuse(error.rawValue, HTTPServer.RejectionReason(error), to: request)
            return bytes.count
        case .head(let length, let framing):
            if peerHasFinished { unconsumed = bytes.count - length }
            note(&request)
            begin(request, framing)
            return length
        }
    }

    private func note(_ request: inout HTTPRequest) {
        request.receivedAt = loop.now
        request.client = loop.client(of: request, peer)
    }

    private func begin(_ request: HTTPRequest, _ framing: RequestFraming) {
        guard !turnsAway(request) else { return }
        // Connections are secured by others: by proxies, and one that is trusted is believed.
        guard !request.isOfSecuredScheme || loop.configuration.isTrustedProxy(peer) else {
            let error = RequestError.misdirected
            return refuse(error.rawValue, HTTPServer.RejectionReason(error), to: request)
        }
        guard framing.body != .none else { return answer(request, framing) }
        do throws(RequestError) {
            let takesContent = loop.handler.takesContent(of: request)
            let reader = try ContentReader(
                framing.body, limits: RequestLimits(loop.configuration), isKept: takesContent)
            if framing.expectsContinue {
                guard takesContent else { return answerInstead(of: request, framing) }
                loop.outbox.appendHead { ResponseEncoder.append("HTTP/1.1 100 Continue\r\n\r\n", to: &$0) }
            }
            phase = .readingContent(IncomingContent(request, reader, framing))
            deadline = (.body, loop.now + loop.times.body)
        } catch {
            refuse(error.rawValue, HTTPServer.RejectionReason(error), to: request)
        }
    }

    /// Answers a request whose content nobody wants, and whose client has asked before it sends any: it need not, and what
    /// it sends all the same is not read (RFC 9110 §10.1.1).
    private func answerInstead(of request: HTTPRequest, _ framing: RequestFraming) {
        var framing = framing
        framing.keepsAlive = false
        answer(request, framing)
    }

    /// Whether the client has ended its side behind the request that is being answered: the answer says that it is the last
    /// (RFC 9112 §9.6).
    var isLastRequest: Bool {
        guard peerHasFinished, unconsumed == 0 else { return false }
        var octet: UInt8 = 0
        return unsafe recv(socket, &octet, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) == 0
    }

    /// What a head that is refused, or not whole, asks for behind empty lines: HEAD, or something that may be answered with
    /// content.
    private static func method(of bytes: some Sequence<UInt8>) -> HTTPMethod {
        let line = bytes.drop { $0 == Octet.carriageReturn || $0 == Octet.lineFeed }
        return line.starts(with: "HEAD ".utf8) ? .head : .get
    }

    /// The client has not sent all of what it began within its time.
    func refuseLate(_ reason: HTTPServer.RejectionReason) {
        guard case .readingContent(let content) = phase else {
            return refuse(408, reason, to: Self.method(of: rest))
        }
        refuse(408, reason, to: content.request)
    }

    private func readContent(_ bytes: UnsafeRawBufferPointer, _ content: IncomingContent) -> Int {
        let count: Int
        do throws(RequestError) {
            count = unsafe try content.reader.read(bytes)
        } catch {
            refuse(error.rawValue, HTTPServer.RejectionReason(error), to: content.request)
            return bytes.count
        }
        if content.reader.isDone {
            if peerHasFinished { unconsumed = bytes.count - count }
            content.request.body = content.reader.content
            answer(content.request, content.framing)
        }
        return count
    }

    /// Whether part of a request has come in, and the rest has not.
    private var isInsideRequest: Bool {
        switch phase {
        case .readingHead: hasBegunHead
        case .readingContent: true
        case .awaitingAnswer, .streaming, .closing, .closed: false
        }
    }

    /// The client will send no more: what it asked for is still made and sent, for as long as it may still listen.
    private func finishInput() {
        switch phase {
        case .awaitingAnswer, .streaming: return doubtListener()
        case .readingHead, .readingContent, .closing, .closed: break
        }
        // What came in before the end is still answered, once the client has taken what it asked for earlier.
        guard endOfInput, rest.isEmpty || pending.isEmpty else { return }
        switch phase {
        case .awaitingAnswer, .streaming, .closed: return
        case .readingHead, .readingContent, .closing:
            if isInsideRequest { loop.reject(.incomplete) }
            finishBothSides()
        }
    }
}

/// A request whose content is being collected.
final class IncomingContent {
    var request: HTTPRequest
    var reader: ContentReader
    let framing: RequestFraming

    init(_ request: HTTPRequest, _ reader: ContentReader, _ framing: RequestFraming) {
        self.request = request
        self.reader = reader
        self.framing = framing
    }
}
