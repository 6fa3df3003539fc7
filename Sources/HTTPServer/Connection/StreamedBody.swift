// SPDX-License-Identifier: Apache-2.0

/// A response's body that is still being received, and how much of it has been queued. Confined to its connection's loop.
final class StreamedBody {
    let framing: ResponseFraming
    private let body: any HTTPBodyStream
    private let exchange: HTTPExchange
    /// Called by the body when it has more bytes.
    private let wake: @Sendable () -> Void
    /// Whether the body has no bytes, and will call `wake`.
    private(set) var isWaiting = false

    /// Octets of the body that were queued, of which those of `piece` may still be in the queue.
    private var queued = 0
    /// The last piece's range in the queue.
    private var piece = 0..<0

    /// The maximum number of bytes in memory that a body returns at once.
    static let mostBytes = 64 << 10
    /// The number of pieces sent before other connections have their turn.
    static let piecesPerTurn = 4

    init(
        _ body: any HTTPBodyStream, of response: HTTPResponse, to request: AnsweredRequest, length: Int?,
        _ driver: some ConnectionDriver
    ) {
        self.body = body
        framing = length.map(ResponseFraming.length) ?? (request.isHTTP10 ? .untilClose : .chunked)
        exchange = request.exchange(response, loop: driver.context.loop)
        wake = driver.wake
    }

    /// Octets that are still to be queued; nil if that is unknown.
    private var missing: Int? {
        guard case .length(let length) = framing else { return nil }
        return length - queued
    }

    /// Whether all octets that were announced are queued.
    var isComplete: Bool { missing == 0 }

    /// The next step of the body; `broken` for a step that contradicts what was announced.
    func next() -> HTTPBodyStep {
        let step = body.next(atMost: Self.mostBytes, orWake: wake)
        let isPossible =
            switch step {
            case .nothingYet: true
            case .piece(.stream), .broken: false
            case .piece(let piece): piece.count > 0 && piece.count <= missing ?? .max
            case .end: missing ?? 0 == 0
            }
        return isPossible ? step : .broken
    }

    /// Waits until the body calls back.
    func wait() { isWaiting = true }

    /// The body has called `wake`; false if nothing waited for it.
    func resume() -> Bool {
        defer { isWaiting = false }
        return isWaiting
    }

    /// Records the range of the next piece in the queue.
    func note(_ piece: Range<Int>) {
        self.piece = piece
        queued += piece.count
    }

    /// Records that all pieces have been sent.
    func noteSent() { piece = 0..<0 }

    /// The exchange to report: complete, or cut after so many octets of the queue with the last piece.
    func exchange(cutAt sent: Int?) -> HTTPExchange {
        var exchange = exchange
        exchange.wasCut = sent != nil
        exchange.bodyBytesSent = queued - (sent.map { piece.count - piece.clamped(to: 0..<$0).count } ?? 0)
        return exchange
    }

    /// The response to send if the body broke before anything was sent.
    static func replacement(of response: HTTPResponse, _ body: any HTTPBodyStream) -> HTTPResponse {
        if let replacement = body.replacement {
            // The replacement must not be a stream, which might break as well.
            guard case .stream = replacement.body else { return replacement }
        }
        var failure = ServerProblem.response(502)
        (failure.context, failure.note) = (response.context, response.note)
        return failure
    }
}
