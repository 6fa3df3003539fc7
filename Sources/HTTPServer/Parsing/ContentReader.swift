// SPDX-License-Identifier: Apache-2.0

/// Collects a request's content, hands it on, or discards it, by length or chunked (RFC 9112 §6, §7.1), within bounds.
/// Pure.
struct ContentReader {
    private enum State: Equatable {
        case fixed(left: Int)
        case chunked
        case chunkData(left: Int)
        case done
    }

    private var state: State
    private var framing: ChunkFraming
    private let maxBytes: Int
    private let isCollected: Bool
    /// Takes the content in place of `content`.
    let receiver: (any HTTPContentReceiving)?
    private var received = 0
    private(set) var content: [UInt8] = []

    init(
        _ framing: BodyFraming, limits: RequestLimits, isCollected: Bool = true,
        receiver: (any HTTPContentReceiving)? = nil
    ) throws(RequestError) {
        self.isCollected = isCollected
        self.receiver = receiver
        maxBytes = limits.contentBytes
        self.framing = ChunkFraming(limits)
        switch framing {
        case .none: state = .done
        case .length(let length):
            guard length <= maxBytes else { throw .bodyTooLarge }
            state = length == 0 ? .done : .fixed(left: length)
        case .chunked: state = .chunked
        }
    }

    /// Whether the content is complete.
    var isDone: Bool { state == .done }

    /// Consumes the bytes that belong to the content in place; returns their number.
    mutating func read(_ bytes: UnsafeRawBufferPointer) throws(RequestError) -> Int {
        let pointer = unsafe bytes.assumingMemoryBound(to: UInt8.self)
        return try unsafe read(pointer.span)
    }

    /// Consumes the octets that belong to the content; returns their number.
    mutating func read(_ octets: Span<UInt8>) throws(RequestError) -> Int {
        var position = 0
        while position < octets.count, state != .done {
            switch state {
            case .fixed(let left):
                let count = take(octets, from: position, atMost: left)
                position += count
                state = left == count ? .done : .fixed(left: left - count)
            case .chunkData(let left):
                let count = take(octets, from: position, atMost: left)
                position += count
                state = left == count ? .chunked : .chunkData(left: left - count)
            case .chunked:
                try step(octets[position])
                position += 1
            case .done: break
            }
        }
        return position
    }

    private mutating func take(_ octets: Span<UInt8>, from start: Int, atMost left: Int) -> Int {
        let count = min(left, octets.count - start)
        received += count
        guard isCollected else { return count }
        unsafe octets.extracting(start..<(start + count)).withUnsafeBytes { bytes in
            if let receiver {
                unsafe receiver.receive(bytes)
            } else {
                unsafe content.append(contentsOf: bytes)
            }
        }
        return count
    }

    /// One octet between the data.
    private mutating func step(_ octet: UInt8) throws(RequestError) {
        switch try framing.step(octet) {
        case .none: return
        case .data(let size):
            guard size <= maxBytes - received else { throw .bodyTooLarge }
            state = .chunkData(left: size)
        case .end: state = .done
        }
    }
}
