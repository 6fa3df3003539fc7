// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Answers to send: heads collected in one buffer, bodies from their own storage, files by sendfile(2).
///
/// A loop has one that all its connections share, since most answers are sent in the turn in which they are
/// made; what a slow client's socket does not take moves, as a whole, into the connection's own queue.
/// Confined to a loop.
struct SendQueue {
    /// The maximum number of pieces that are sent at once.
    typealias Vectors = InlineArray<16, iovec>

    private enum Segment {
        /// Part of `heads`.
        case heads(Range<Int>)
        /// Bytes of an array that are still to be sent.
        case bytes([UInt8], Range<Int>)
        case file(CInt, Range<Int64>, owner: any AnyObject & Sendable)
    }

    /// A complete answer, and the octet of this queue before which it ends.
    private struct Answer {
        var exchange: HTTPExchange
        var end: Int
    }

    private var heads = ReusedArray<UInt8>()
    private var segments = ReusedArray<Segment>()
    private var first = 0
    private var ends = ReusedArray<Answer>()
    private var firstEnd = 0
    private var queued = 0
    private var sent = 0

    /// The maximum number of segments for one call: that of `Vectors`.
    private static let maxVectors = 16
    /// The maximum number of a file's bytes for one call, so that one client can't delay a loop.
    private static let fileChunk: Int64 = 1 << 20

    /// The result of an attempt to send everything.
    enum Progress {
        case done, blocked, reset, failed
    }

    /// Whether nothing waits to be sent.
    var isEmpty: Bool { first == segments.count }

    /// Answers that have not been sent.
    var answers: Int { ends.count - firstEnd }

    /// Octets that have not been sent.
    var octetsWaiting: Int { queued - sent }

    /// Octets that the socket has taken.
    var octetsSent: Int { sent }

    /// Octets that have been added.
    var octetsAdded: Int { queued }

    // MARK: - Filling

    /// Hot path: adds what `write` appends to the buffer of heads.
    mutating func appendHead(_ write: (inout ReusedArray<UInt8>) -> Void) {
        let start = heads.count
        write(&heads)
        noteHead(from: start)
    }

    private mutating func noteHead(from start: Int) {
        queued += heads.count - start
        if first < segments.count, case .heads(let range)? = segments.last, range.upperBound == start {
            segments[segments.count - 1] = .heads(range.lowerBound..<heads.count)
        } else {
            segments.append(.heads(start..<heads.count))
        }
    }

    /// Hot path: adds the head of a response without its first octets, as many as have been sent before.
    mutating func append(
        _ response: HTTPResponse, _ frame: ResponseEncoder.Frame, by encoder: ResponseEncoder,
        from octet: Int
    ) {
        let start = heads.count
        encoder.encode(response, frame, into: &heads)
        noteHead(from: start + octet)
    }

    /// Hot path: adds a body, without a copy.
    mutating func append(_ body: HTTPBody) {
        switch body {
        case .none: return
        case .bytes(let bytes): if !bytes.isEmpty { segments.append(.bytes(bytes, 0..<bytes.count)) }
        case .part(let bytes, let range): if !range.isEmpty { segments.append(.bytes(bytes, range)) }
        case .file(let file, let offset, let length, let owner):
            if length > 0 { segments.append(.file(file, offset..<(offset + length), owner: owner)) }
        // `ResponseSender` queues the pieces of a stream one by one.
        case .stream: return
        }
        queued += body.count
    }

    /// Records that an answer is complete with what has been added.
    mutating func finish(_ exchange: HTTPExchange) {
        ends.append(Answer(exchange: exchange, end: queued))
    }

    /// Hot path: the same for an exchange that `write` stores over an old one, every member of it.
    @inline(__always)
    mutating func finish(id: RequestID, _ write: (inout HTTPExchange) -> Void) {
        let end = queued
        ends.append(reusing: Answer(exchange: HTTPExchange(status: .ok, requestID: id), end: end)) {
            write(&$0.exchange)
            $0.end = end
        }
    }

    // MARK: - Emptying

    /// Hot path: sends as much as the socket takes.
    mutating func send(to socket: some OutputSocket) -> Progress {
        while first < segments.count {
            let result: SendResult
            if case .file(let file, let range, _) = segments[first] {
                let end = min(range.upperBound, range.lowerBound + Self.fileChunk)
                result = socket.sendFile(file, range.lowerBound..<end)
            } else {
                result = sendVectors(to: socket)
            }
            switch result {
            // 0: a file is shorter than its response announces.
            case .took(0), .failed: return .failed
            case .blocked: return .blocked
            case .reset: return .reset
            case .took(let count):
                sent += count
                advance(by: count)
            }
        }
        return .done
    }

    /// Hot path: reports the answers that have been sent.
    mutating func reportSent(to driver: some ConnectionDriver) {
        while firstEnd < ends.count, ends[firstEnd].end <= sent {
            driver.report(&ends[firstEnd].exchange)
            ends[firstEnd].exchange.note = nil
            firstEnd += 1
        }
    }

    /// Reports the answers that are not sent completely, with the octets of their content that were.
    mutating func reportUnsent(to driver: some ConnectionDriver) {
        while firstEnd < ends.count {
            var exchange = ends[firstEnd].exchange
            let missing = ends[firstEnd].end - sent
            exchange.bodyBytesSent = max(0, exchange.bodyBytesSent - missing)
            exchange.wasCut = true
            driver.report(&exchange)
            ends[firstEnd].exchange.note = nil
            firstEnd += 1
        }
    }

    /// Hot path: begins anew with empty buffers that keep their capacity.
    mutating func reset() {
        heads.removeAll()
        segments.removeAll()
        ends.removeAll()
        (first, firstEnd, queued, sent) = (0, 0, 0, 0)
    }

    // MARK: - Segments

    private func sendVectors(to socket: some OutputSocket) -> SendResult {
        var vectors = unsafe Vectors(repeating: unsafe iovec(iov_base: nil, iov_len: 0))
        return unsafe heads.withUnsafeBytes { unsafe gather($0, first, 0, &vectors, socket) }
    }

    /// Nests one borrow of each array's storage in the other, and sends inside the innermost.
    private func gather(
        _ heads: UnsafeRawBufferPointer, _ index: Int, _ count: Int, _ vectors: inout Vectors,
        _ socket: some OutputSocket
    ) -> SendResult {
        guard index < segments.count, count < Self.maxVectors else {
            return unsafe socket.send(&vectors, count, hasMore: false)
        }
        switch segments[index] {
        case .heads(let range):
            unsafe vectors[count] = Self.vector(heads, range)
            return unsafe gather(heads, index + 1, count + 1, &vectors, socket)
        case .bytes(let bytes, let range):
            return unsafe bytes.withUnsafeBytes { raw in
                unsafe vectors[count] = Self.vector(raw, range)
                return unsafe gather(heads, index + 1, count + 1, &vectors, socket)
            }
        case .file: return unsafe socket.send(&vectors, count, hasMore: true)
        }
    }

    private static func vector(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> iovec {
        unsafe iovec(
            iov_base: UnsafeMutableRawPointer(
                mutating: bytes.baseAddress.map { unsafe $0 + range.lowerBound }),
            iov_len: range.count)
    }

    private mutating func advance(by count: Int) {
        var left = count
        while left > 0, first < segments.count {
            let taken: Int
            let isSent: Bool
            switch segments[first] {
            case .heads(let range):
                taken = min(left, range.count)
                isSent = taken == range.count
                if !isSent { segments[first] = .heads((range.lowerBound + taken)..<range.upperBound) }
            case .bytes(let bytes, let range):
                taken = min(left, range.count)
                isSent = taken == range.count
                if !isSent { segments[first] = .bytes(bytes, (range.lowerBound + taken)..<range.upperBound) }
            case .file(let file, let range, let owner):
                taken = Int(min(Int64(left), range.upperBound - range.lowerBound))
                isSent = range.lowerBound + Int64(taken) == range.upperBound
                if !isSent {
                    segments[first] = .file(
                        file, (range.lowerBound + Int64(taken))..<range.upperBound, owner: owner)
                }
            }
            left -= taken
            guard isSent else { return }
            // Releases the body.
            segments[first] = .heads(0..<0)
            first += 1
        }
    }
}
