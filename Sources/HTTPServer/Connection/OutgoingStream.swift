// SPDX-License-Identifier: Apache-2.0

/// An answer whose body arrives over time, and how far it has got. Confined to its connection's loop.
final class OutgoingStream {
    let body: any HTTPBodyStream
    let framing: ResponseFraming
    let keepsAlive: Bool
    let exchange: HTTPExchange
    /// Lets the body call the connection back.
    let wake: @Sendable () -> Void
    /// Whether the body has said that nothing is there yet, and will call back.
    var isWaiting = false

    /// Bytes of the body handed to the outbox, of which those of `piece` may still lie there.
    private var given = 0
    /// Where the last piece lies in the outbox.
    private var piece = 0..<0

    /// Most bytes that a body gives in memory at once.
    static let mostBytes = 64 << 10
    /// Pieces sent before other connections get their turn.
    static let piecesPerTurn = 4

    init(
        _ body: any HTTPBodyStream, framing: ResponseFraming, keepsAlive: Bool, exchange: HTTPExchange,
        wake: @escaping @Sendable () -> Void
    ) {
        self.body = body
        self.framing = framing
        self.keepsAlive = keepsAlive
        self.exchange = exchange
        self.wake = wake
    }

    /// Bytes that the client has yet to get; nil where nobody knows.
    var missing: Int? {
        guard case .length(let length) = framing else { return nil }
        return length - given
    }

    /// What of the body is next.
    func next() -> HTTPBodyStep { body.next(atMost: Self.mostBytes, orWake: wake) }

    /// Whether a step makes sense behind those before; otherwise the body is broken.
    func mayBeFollowed(by step: HTTPBodyStep) -> Bool {
        switch step {
        case .nothingYet: true
        case .piece(.stream), .broken: false
        case .piece(let piece): piece.count > 0 && piece.count <= missing ?? .max
        case .end: missing ?? 0 == 0
        }
    }

    /// Notes where in the outbox the next piece lies.
    func note(_ piece: Range<Int>) {
        self.piece = piece
        given += piece.count
    }

    /// Notes that all pieces have left.
    func noteDeparture() { piece = 0..<0 }

    /// The exchange as it is reported: whole, or cut when so many bytes of the outbox with the last piece had left.
    func exchange(cutAt sent: Int?) -> HTTPExchange {
        var exchange = exchange
        exchange.wasCut = sent != nil
        exchange.bodyBytesSent = given - (sent.map { piece.count - piece.clamped(to: 0..<$0).count } ?? 0)
        return exchange
    }
}
