// SPDX-License-Identifier: Apache-2.0

/// How a request's content is delimited (RFC 9112 §6.3).
enum BodyFraming: Equatable {
    case none
    case length(Int)
    case chunked
}

/// The facts in a head about content and connection.
struct RequestFraming: Equatable {
    var body = BodyFraming.none
    var keepsAlive = true
    var expectsContinue = false
}

extension RequestFraming {
    /// Hot path: reads the fields that decide where the request ends and whether its connection persists.
    init(of request: inout HTTPRequest) throws(RequestError) {
        try Self.checkHost(&request)
        let octets = request.head.storage.span.extracting(0..<request.head.count)
        body = try Self.body(request, octets)
        // TRACE has no content (RFC 9110 §9.3.8).
        guard body == .none || request.method != .trace else { throw .malformed }
        keepsAlive = Self.keepsAlive(request, octets)
        expectsContinue = try Self.expectsContinue(request, octets) && body != .none
    }

    /// Exactly one, and valid; only HTTP/1.0 may omit it (RFC 9112 §3.2).
    private static func checkHost(_ request: inout HTTPRequest) throws(RequestError) {
        guard request.present.contains(.host) else {
            guard request.isHTTP10 else { throw .missingHost }
            return
        }
        guard !request.repeats(.host), request.checkHost() else { throw .malformed }
    }

    // MARK: - Content (RFC 9112 §6)

    private static func body(
        _ request: borrowing HTTPRequest, _ octets: Span<UInt8>
    ) throws(RequestError) -> BodyFraming {
        let hasLength = request.present.contains(.contentLength)
        if request.present.contains(.transferEncoding) {
            // Together with a length, or from an HTTP/1.0 client, two recipients may disagree on the framing
            // (RFC 9112 §6.1).
            guard !hasLength, !request.isHTTP10 else { throw .malformed }
            var codings = TransferCodings()
            for line in request.lines where line.known == .transferEncoding {
                try codings.add(octets, line.value)
            }
            try codings.finish()
            return .chunked
        }
        guard hasLength else { return .none }
        guard !request.repeats(.contentLength) else { throw .malformed }
        return try length(request, octets)
    }

    /// Digits alone: no list, not even of equal numbers, no sign (RFC 9110 §8.6).
    private static func length(
        _ request: borrowing HTTPRequest, _ octets: Span<UInt8>
    ) throws(RequestError) -> BodyFraming {
        var length = 0
        for line in request.lines where line.known == .contentLength {
            guard (1...maxLengthDigits).contains(line.value.count) else { throw .malformed }
            for index in line.value {
                guard let digit = Octet.digit(octets[index]) else { throw .malformed }
                length = length * 10 + digit
            }
        }
        return length == 0 ? .none : .length(length)
    }

    /// So many digits always fit into 63 bits.
    private static var maxLengthDigits: Int { 18 }

    // MARK: - The connection (RFC 9112 §9.3, RFC 9110 §7.6.1, §10.1.1)

    /// `close` wins wherever it stands; unknown members and those that are not tokens are ignored.
    private static func keepsAlive(_ request: borrowing HTTPRequest, _ octets: Span<UInt8>) -> Bool {
        var keepsAlive = !request.isHTTP10
        guard request.present.contains(.connection) else { return keepsAlive }
        for line in request.lines where line.known == .connection {
            var members = ListMembers(line.value)
            while let member = members.next(in: octets) {
                if octets.spells("close", member) { return false }
                if octets.spells("keep-alive", member) { keepsAlive = true }
            }
        }
        return keepsAlive
    }

    /// The only defined expectation; those of HTTP/1.0 are ignored.
    private static func expectsContinue(
        _ request: borrowing HTTPRequest, _ octets: Span<UInt8>
    ) throws(RequestError) -> Bool {
        guard request.present.contains(.expect), !request.isHTTP10 else { return false }
        var expects = false
        for line in request.lines where line.known == .expect {
            var members = ListMembers(line.value)
            while let member = members.next(in: octets) {
                guard octets.spells("100-continue", member) else { throw .unknownExpectation }
                expects = true
            }
        }
        return expects
    }
}
