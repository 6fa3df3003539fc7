// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// Bytes on their way into a socket: heads collected in one buffer, bodies from their own storage, files by sendfile.
///
/// Confined to a loop.
struct OutgoingQueue {
    private enum Segment {
        case bytes([UInt8], sent: Int)
        case file(CInt, offset: Int64, left: Int64, owner: any AnyObject & Sendable)
    }

    private var segments: [Segment] = []
    private var first = 0

    /// Most segments given to the kernel at once.
    private static let maxVectors = 16
    /// Most bytes of a file given to the kernel at once, so that one reader can't hold up a loop.
    private static let fileChunk = 1 << 20

    /// Whether nothing waits.
    var isEmpty: Bool { first == segments.count }

    /// What one attempt to send led to.
    enum Progress {
        case done
        case blocked
        case failed
    }

    /// Adds bytes; without a copy.
    mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        segments.append(.bytes(bytes, sent: 0))
    }

    /// Adds part of a file.
    mutating func append(file: CInt, offset: Int64, length: Int64, owner: any AnyObject & Sendable) {
        guard length > 0 else { return }
        segments.append(.file(file, offset: offset, left: length, owner: owner))
    }

    /// Sends as much as the socket takes; `sent` grows by what it took.
    mutating func send(to socket: CInt, sent: inout Int) -> Progress {
        while first < segments.count {
            let count: Int
            switch segments[first] {
            case .bytes: count = writeVectors(socket)
            case .file: count = sendFile(socket)
            }
            if count < 0 {
                if errno == EINTR { continue }
                return errno == EAGAIN || errno == EWOULDBLOCK ? .blocked : .failed
            }
            // A file that has become shorter than it was said to be.
            if count == 0 { return .failed }
            sent += count
            advance(by: count)
        }
        segments.removeAll(keepingCapacity: true)
        first = 0
        return .done
    }

    private func writeVectors(_ socket: CInt) -> Int {
        var vectors = unsafe InlineArray<16, iovec>(repeating: unsafe iovec(iov_base: nil, iov_len: 0))
        return unsafe gather(first, 0, &vectors, socket)
    }

    /// Nests one borrow of each array's storage in the other, and writes inside the innermost.
    private func gather(
        _ index: Int, _ count: Int, _ vectors: inout InlineArray<16, iovec>, _ socket: CInt
    ) -> Int {
        guard index < segments.count, count < Self.maxVectors,
            case .bytes(let bytes, let sent) = segments[index]
        else {
            var span = unsafe vectors.mutableSpan
            return unsafe span.withUnsafeMutableBufferPointer { pointer in
                var message = unsafe msghdr()
                unsafe message.msg_iov = pointer.baseAddress
                unsafe message.msg_iovlen = count
                return unsafe sendmsg(socket, &message, CInt(MSG_NOSIGNAL))
            }
        }
        return unsafe bytes.withUnsafeBytes { raw in
            unsafe vectors[count] = unsafe iovec(
                iov_base: UnsafeMutableRawPointer(mutating: raw.baseAddress.map { unsafe $0 + sent }),
                iov_len: raw.count - sent)
            return unsafe gather(index + 1, count + 1, &vectors, socket)
        }
    }

    private func sendFile(_ socket: CInt) -> Int {
        guard case .file(let file, let offset, let left, _) = segments[first] else { return 0 }
        var position = off_t(offset)
        return unsafe sendfile(socket, file, &position, min(Int(left), Self.fileChunk))
    }

    private mutating func advance(by count: Int) {
        var count = count
        while count > 0, first < segments.count {
            switch segments[first] {
            case .bytes(let bytes, let sent):
                let taken = min(count, bytes.count - sent)
                count -= taken
                segments[first] = .bytes(bytes, sent: sent + taken)
                if sent + taken == bytes.count { drop() }
            case .file(let file, let offset, let left, let owner):
                let taken = min(Int64(count), left)
                count -= Int(taken)
                segments[first] = .file(file, offset: offset + taken, left: left - taken, owner: owner)
                if left == taken { drop() }
            }
        }
    }

    private mutating func drop() {
        segments[first] = .bytes([], sent: 0)
        first += 1
    }
}
