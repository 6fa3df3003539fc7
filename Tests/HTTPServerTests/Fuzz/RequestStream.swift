// SPDX-License-Identifier: Apache-2.0

@testable import HTTPServer

/// Reads requests one after the other, as a connection does, from bytes in pieces.
struct RequestStream {
    /// The result of the bytes.
    enum Event: Equatable {
        case request([[UInt8]], RequestFraming, content: [UInt8])
        case failed(RequestError)
        /// What is left belongs to a head, or to content, that is incomplete.
        case needsMore(inContent: Bool)
    }

    private(set) var events: [Event] = []
    private(set) var requests: [HTTPRequest] = []
    private let limits: RequestLimits
    private var parser: RequestParser
    private var request = HTTPRequest()
    private var content: (ContentReader, RequestFraming)?
    private var rest: [UInt8] = []
    private var hasFailed = false

    init(_ limits: RequestLimits) {
        self.limits = limits
        parser = RequestParser(limits)
    }

    /// All results of `bytes` split at `cuts`, in rising order.
    static func read(_ bytes: [UInt8], _ limits: RequestLimits, cutAt cuts: [Int]) -> RequestStream {
        var stream = RequestStream(limits)
        var start = 0
        for cut in cuts + [bytes.count] {
            stream.take(bytes[start..<cut])
            start = cut
        }
        if !stream.hasFailed { stream.events.append(.needsMore(inContent: stream.content != nil)) }
        return stream
    }

    private mutating func take(_ bytes: ArraySlice<UInt8>) {
        guard !hasFailed else { return }
        rest += bytes
        do throws(RequestError) {
            while try step() {}
        } catch {
            events.append(.failed(error))
            hasFailed = true
        }
    }

    /// One head or as much content as is there; false if that needs more.
    private mutating func step() throws(RequestError) -> Bool {
        guard case (var reader, let framing)? = content else { return try readHead() }
        rest.removeFirst(try reader.read(rest.span))
        guard reader.isDone else {
            content = (reader, framing)
            return false
        }
        content = nil
        finish(framing, reader.content)
        return true
    }

    private mutating func readHead() throws(RequestError) -> Bool {
        switch rest.withUnsafeBytes({ parser.parse($0, into: &request) }) {
        case .needsMore: return false
        case .failed(let error), .refused(let error): throw error
        case .head(let length, let framing):
            rest.removeFirst(length)
            let reader = try ContentReader(framing.body, limits: limits)
            if reader.isDone { finish(framing, []) } else { content = (reader, framing) }
            return true
        }
    }

    private mutating func finish(_ framing: RequestFraming, _ content: [UInt8]) {
        events.append(.request(request.parts, framing, content: content))
        requests.append(request)
    }
}
