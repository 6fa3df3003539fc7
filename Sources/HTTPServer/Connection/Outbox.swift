// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Answers on their way into a socket: heads collected in one buffer, bodies from their own storage, files by sendfile.
///
/// A loop has one that all its connections share, since most answers leave in the turn they are made in; only what a slow
/// client does not take moves, as a whole, into the connection's own. Confined to a loop.
struct Outbox {
    private enum Segment {
        /// Part of `heads`.
        case heads(Range<Int>)
        /// Bytes of an array that are still to be sent.
        case bytes([UInt8], Range<Int>)
        case file(CInt, Range<Int64>, owner: any AnyObject & Sendable)
    }

    /// An answer, and after which byte of this outbox it has left.
    private struct Departure {
        var exchange: HTTPExchange
        var end: Int
    }

    private var heads = ReusedArray<UInt8>()
    private var segments = ReusedArray<Segment>()
    private var first = 0
    private var departures = ReusedArray<Departure>()
    private var firstDeparture = 0
    private var queued = 0
    private var sent = 0

    /// Most segments given to the kernel at once.
    private static let maxVectors = 16
    /// Most bytes of a file given to the kernel at once, so that one reader can't hold up a loop.
    private static let fileChunk: Int64 = 1 << 20

    /// What one attempt to send led to.
    enum Progress {
        case done
        case blocked
        /// The client is gone.
        case reset
        case failed
    }

    /// Whether nothing waits to be sent.
    var isEmpty: Bool { first == segments.count }

    /// Answers that have not left.
    var answers: Int { departures.count - firstDeparture }

    /// Bytes that have not left.
    var bytesWaiting: Int { queued - sent }

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

    /// Hot path: adds the head of a response, but for so many octets that have been sent before.
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
        // A stream is asked for its pieces, see `Connection+Streaming`.
        case .stream: return
        }
        queued += body.count
    }

    /// Notes that with what has been added so far an answer is whole.
    mutating func finish(_ exchange: HTTPExchange) {
        departures.append(Departure(exchange: exchange, end: queued))
    }

    /// Hot path: the same for an exchange that `write` puts in the place of an old one, every member of it.
    @inline(__always)
    mutating func finish(id: RequestID, _ write: (inout HTTPExchange) -> Void) {
        let end = queued
        departures.append(reusing: Departure(exchange: HTTPExchange(status: .ok, requestID: id), end: end)) {
            write(&$0.exchange)
            $0.end = end
        }
    }

    // MARK: - Emptying

    /// Hot path: sends as much as the socket takes.
    mutating func send(to socket: CInt) -> Progress {
        while first < segments.count {
            let count: Int
            if case .file(let file, let range, _) = segments[first] {
                count = sendFile(file, range, socket)
            } else {
                count = writeVectors(socket)
            }
            if count < 0 {
                if errno == EINTR { continue }
                return errno == EAGAIN ? .blocked : errno == ECONNRESET || errno == EPIPE ? .reset : .failed
            }
            // A file that has become shorter than it was said to be.
            if count == 0 { return .failed }
            sent += count
            advance(by: count)
        }
        return .done
    }

    /// Bytes that the socket has taken.
    var bytesSent: Int { sent }

    /// Bytes that have been added.
    var bytesAdded: Int { queued }

    /// Hot path: has the answers reported that have left.
    mutating func reportDeparted(to loop: EventLoop) {
        while firstDeparture < departures.count, departures[firstDeparture].end <= sent {
            loop.report(&departures[firstDeparture].exchange)
            departures[firstDeparture].exchange.note = nil
            firstDeparture += 1
        }
    }

    /// Has the answers reported that will never leave whole, with the bytes of their content that did.
    mutating func reportStranded(to loop: EventLoop) {
        while firstDeparture < departures.count {
            var exchange = departures[firstDeparture].exchange
            let missing = departures[firstDeparture].end - sent
            exchange.bodyBytesSent = max(0, exchange.bodyBytesSent - missing)
            exchange.wasCut = true
            loop.report(&exchange)
            departures[firstDeparture].exchange.note = nil
            firstDeparture += 1
        }
    }

    /// Hot path: begins anew with empty buffers that keep their room.
    mutating func reset() {
        heads.removeAll()
        segments.removeAll()
        departures.removeAll()
        (first, firstDeparture, queued, sent) = (0, 0, 0, 0)
    }

    // MARK: - Into the kernel

    private func writeVectors(_ socket: CInt) -> Int {
        var vectors = unsafe InlineArray<16, iovec>(repeating: unsafe iovec(iov_base: nil, iov_len: 0))
        return unsafe heads.withUnsafeBytes { unsafe gather($0, first, 0, &vectors, socket) }
    }

    /// Nests one borrow of each array's storage in the other, and writes inside the innermost.
    private func gather(
        _ heads: UnsafeRawBufferPointer, _ index: Int, _ count: Int, _ vectors: inout InlineArray<16, iovec>,
        _ socket: CInt
    ) -> Int {
        guard index < segments.count, count < Self.maxVectors else {
            return unsafe Self.write(&vectors, count, socket)
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
        case .file:
            return unsafe Self.write(&vectors, count, socket, hasMore: true)
        }
    }

    private static func vector(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> iovec {
        unsafe iovec(
            iov_base: UnsafeMutableRawPointer(
                mutating: bytes.baseAddress.map { unsafe $0 + range.lowerBound }),
            iov_len: range.count)
    }

    /// `hasMore` lets the kernel join a head with the file behind it in one segment.
    private static func write(
        _ vectors: inout InlineArray<16, iovec>, _ count: Int, _ socket: CInt, hasMore: Bool = false
    ) -> Int {
        let flags = CInt(MSG_NOSIGNAL) | (hasMore ? CInt(MSG_MORE) : 0)
        // One piece is cheaper without a list of pieces.
        if count == 1 { return unsafe Glibc.send(socket, vectors[0].iov_base, vectors[0].iov_len, flags) }
        var span = unsafe vectors.mutableSpan
        return unsafe span.withUnsafeMutableBufferPointer { pointer in
            var message = unsafe msghdr()
            unsafe message.msg_iov = pointer.baseAddress
            unsafe message.msg_iovlen = count
            return unsafe sendmsg(socket, &message, flags)
        }
    }

    private func sendFile(_ file: CInt, _ range: Range<Int64>, _ socket: CInt) -> Int {
        var position = off_t(range.lowerBound)
        return unsafe sendfile(
            socket, file, &position, Int(min(range.upperBound - range.lowerBound, Self.fileChunk)))
    }

    private mutating func advance(by count: Int) {
        var left = count
        while left > 0, first < segments.count {
            let taken: Int
            let isGone: Bool
            switch segments[first] {
            case .heads(let range):
                taken = min(left, range.count)
                isGone = taken == range.count
                if !isGone { segments[first] = .heads((range.lowerBound + taken)..<range.upperBound) }
            case .bytes(let bytes, let range):
                taken = min(left, range.count)
                isGone = taken == range.count
                if !isGone { segments[first] = .bytes(bytes, (range.lowerBound + taken)..<range.upperBound) }
            case .file(let file, let range, let owner):
                taken = Int(min(Int64(left), range.upperBound - range.lowerBound))
                isGone = range.lowerBound + Int64(taken) == range.upperBound
                if !isGone {
                    segments[first] = .file(
                        file, (range.lowerBound + Int64(taken))..<range.upperBound, owner: owner)
                }
            }
            left -= taken
            guard isGone else { return }
            // Lets go of the body.
            segments[first] = .heads(0..<0)
            first += 1
        }
    }
}
