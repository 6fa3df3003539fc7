// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

/// The parser's result for a head, the same whether it comes whole, in two pieces split anywhere, or octet by
/// octet.
struct HeadReading {
    let outcome: RequestParser.Outcome
    let request: HTTPRequest

    var error: RequestError? {
        switch outcome {
        case .failed(let error), .refused(let error): error
        case .needsMore, .head: nil
        }
    }

    var framing: RequestFraming? {
        guard case .head(_, let framing) = outcome else { return nil }
        return framing
    }

    /// The bounds of most tests, small enough for every split.
    static let limits = RequestLimits(
        headBytes: 1_024, targetBytes: 256, fieldLines: 16, contentBytes: 64, extensionBytes: 32,
        trailerBytes: 64)

    init(_ text: String, limits: RequestLimits = limits, _ location: SourceLocation = #_sourceLocation) {
        self.init(Array(text.utf8), limits: limits, location)
    }

    init(_ bytes: [UInt8], limits: RequestLimits = limits, _ location: SourceLocation = #_sourceLocation) {
        (outcome, request) = Self.read(bytes, limits, pieces: [])
        var pieces = (0..<bytes.count).map { [$0] }
        pieces.append(Array(1..<max(1, bytes.count)))
        for lengths in pieces {
            let (outcome, request) = Self.read(bytes, limits, pieces: lengths)
            guard outcome != self.outcome || request.parts != self.request.parts else { continue }
            Issue.record("split at \(lengths): \(outcome), not \(self.outcome)", sourceLocation: location)
            return
        }
    }

    /// Passes more and more of the bytes to the parser, and a request that was used for another head in
    /// between.
    static func read(
        _ bytes: [UInt8], _ limits: RequestLimits, pieces lengths: [Int]
    ) -> (RequestParser.Outcome, HTTPRequest) {
        var parser = RequestParser(limits)
        for length in lengths + [bytes.count] {
            var request = foreign
            let outcome = bytes.withUnsafeBytes { raw in
                parser.parse(UnsafeRawBufferPointer(rebasing: raw[..<length]), into: &request)
            }
            if case .head = outcome { return (outcome, request) }
            if outcome != .needsMore { return (outcome, HTTPRequest()) }
        }
        return (.needsMore, HTTPRequest())
    }

    /// A request of another connection.
    private static let foreign: HTTPRequest = {
        var (parser, request) = (RequestParser(RequestLimits()), HTTPRequest())
        let head = "DELETE /foreign HTTP/1.0\r\nHost: foreign\r\nAccept: foreign\r\nX-Foreign: 1\r\n\r\n"
        _ = Array(head.utf8).withUnsafeBytes { parser.parse($0, into: &request) }
        return request
    }()
}

/// A GET with these lines after a valid `Host`, each ended by the caller.
func head(_ lines: String = "", method: String = "GET", target: String = "/") -> String {
    "\(method) \(target) HTTP/1.1\r\nHost: a\r\n\(lines)\r\n"
}
