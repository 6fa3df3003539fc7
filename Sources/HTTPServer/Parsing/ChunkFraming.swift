// SPDX-License-Identifier: Apache-2.0

/// Reads the framing between the data of a chunked body (RFC 9112 §7.1), octet by octet. Pure.
///
/// Extensions and trailers are checked as strictly as everything else, and dropped.
struct ChunkFraming {
    /// The result of an octet.
    enum Event: Equatable {
        case none
        /// So many octets of data follow; the framing continues after them.
        case data(Int)
        /// The body has ended.
        case end
    }

    private enum State: Equatable {
        case size(digits: Int)
        case chunkExtension(ChunkExtension)
        case sizeLineFeed
        case dataCarriageReturn, dataLineFeed
        case trailerStart, trailerName, trailerValue, trailerLineFeed
        case endLineFeed
    }

    private var state = State.size(digits: 0)
    private var size = 0
    private var extensionBytes = 0
    private var trailerBytes = 0
    private var trailerLines = 0
    private let limits: RequestLimits

    /// The maximum number of digits of a size, leading zeros included: the size never overflows.
    private static let maxSizeDigits = 15

    init(_ limits: RequestLimits) {
        self.limits = limits
    }

    /// Reads one octet.
    mutating func step(_ octet: UInt8) throws(RequestError) -> Event {
        switch state {
        case .size(let digits): try readSize(octet, digits)
        case .chunkExtension(var grammar):
            extensionBytes += 1
            guard extensionBytes <= limits.extensionBytes else { throw .bodyTooLarge }
            state = try grammar.step(octet) ? .sizeLineFeed : .chunkExtension(grammar)
        case .sizeLineFeed:
            try require(octet, Octet.lineFeed)
            state = size == 0 ? .trailerStart : .dataCarriageReturn
            return size == 0 ? .none : .data(size)
        case .dataCarriageReturn:
            try require(octet, Octet.carriageReturn)
            state = .dataLineFeed
        case .dataLineFeed:
            try require(octet, Octet.lineFeed)
            (state, size) = (.size(digits: 0), 0)
        case .trailerStart, .trailerName, .trailerValue, .trailerLineFeed: try readTrailer(octet)
        case .endLineFeed:
            try require(octet, Octet.lineFeed)
            return .end
        }
        return .none
    }

    private func require(_ octet: UInt8, _ wanted: UInt8) throws(RequestError) {
        guard octet == wanted else { throw .malformed }
    }

    /// Hexadecimal digits, then the line's end or an extension, before which white space is tolerated.
    private mutating func readSize(_ octet: UInt8, _ digits: Int) throws(RequestError) {
        if let digit = Octet.hexDigit(octet) {
            guard digits < Self.maxSizeDigits else { throw .bodyTooLarge }
            size = size << 4 | digit
            state = .size(digits: digits + 1)
            return
        }
        guard digits > 0 else { throw .malformed }
        if octet == Octet.carriageReturn {
            state = .sizeLineFeed
            return
        }
        var grammar = ChunkExtension()
        _ = try grammar.step(octet)
        state = .chunkExtension(grammar)
    }

    /// Field lines as in a head, up to an empty line.
    private mutating func readTrailer(_ octet: UInt8) throws(RequestError) {
        trailerBytes += 1
        guard trailerBytes <= limits.trailerBytes else { throw .headTooLarge }
        switch state {
        case .trailerStart where octet == Octet.carriageReturn: state = .endLineFeed
        case .trailerStart where OctetSet.token.contains(octet):
            trailerLines += 1
            guard trailerLines <= limits.fieldLines else { throw .headTooLarge }
            state = .trailerName
        case .trailerName where octet == UInt8(ascii: ":"): state = .trailerValue
        case .trailerName where OctetSet.token.contains(octet): break
        case .trailerValue where octet == Octet.carriageReturn: state = .trailerLineFeed
        case .trailerValue where Octet.isFieldText(octet): break
        case .trailerLineFeed where octet == Octet.lineFeed: state = .trailerStart
        default: throw .malformed
        }
    }
}
