// SPDX-License-Identifier: Apache-2.0

/// What a `FakeOrigin` does for a request: a script of bytes, waits and ends.
public struct OriginAnswer: Sendable {
    /// One step of a script; a client that disconnects ends the script at any step.
    public enum Step: Sendable {
        /// Sends bytes.
        case send([UInt8])
        /// Waits until the gate is open.
        case wait(OriginGate)
        /// Waits until the client disconnects.
        case stall
        /// Sends bytes in pieces with a pause before each: the only step that takes time by itself.
        case trickle([UInt8], piece: Int, everyMilliseconds: Int)
        /// Waits until the client's host has received all that was sent, read or not.
        case delivered
        /// Ends the connection in order (FIN).
        case close
        /// Resets the connection (RST).
        case reset
    }

    /// The steps, in order; the connection stays open after the last one unless that closes it.
    public var steps: [Step]

    /// A script.
    public init(_ steps: [Step]) {
        self.steps = steps
    }

    // MARK: - Whole answers

    /// A body with its length.
    public static func body(
        _ body: [UInt8], type: String = "image/png", status: Int = 200, fields: [(String, String)] = []
    ) -> OriginAnswer {
        let all = [("Content-Type", type), ("Content-Length", "\(body.count)")] + fields
        return OriginAnswer([.send(head(status, all) + body)])
    }

    /// A status with a short text.
    public static func status(_ status: Int, fields: [(String, String)] = []) -> OriginAnswer {
        let hasNoBody = status == 204 || status == 304
        return hasNoBody
            ? OriginAnswer([.send(head(status, fields))])
            : .body(Array("status \(status)\n".utf8), type: "text/plain", status: status, fields: fields)
    }

    /// A redirect.
    public static func redirect(to location: String, status: Int = 302) -> OriginAnswer {
        .status(status, fields: [("Location", location)])
    }

    /// A body in chunks (RFC 9112 §7.1), each sent on its own.
    public static func chunked(_ pieces: [[UInt8]], fields: [(String, String)] = []) -> OriginAnswer {
        let start = Step.send(head(200, [("Transfer-Encoding", "chunked")] + fields))
        let chunks = pieces.map {
            Step.send(Array("\(String($0.count, radix: 16))\r\n".utf8) + $0 + Array("\r\n".utf8))
        }
        return OriginAnswer([start] + chunks + [.send(Array("0\r\n\r\n".utf8))])
    }

    /// A body that ends with the connection.
    public static func untilClose(_ body: [UInt8], fields: [(String, String)] = []) -> OriginAnswer {
        OriginAnswer([.send(head(200, [("Connection", "close")] + fields) + body), .close])
    }

    /// A body that ends before its declared length.
    public static func truncated(_ body: [UInt8], declaring length: Int) -> OriginAnswer {
        OriginAnswer([.send(head(200, [("Content-Length", "\(length)")]) + body), .close])
    }

    /// A head and some of the body, then nothing until the client disconnects.
    public static func stalling(after body: [UInt8], declaring length: Int) -> OriginAnswer {
        OriginAnswer([.send(head(200, [("Content-Length", "\(length)")]) + body), .stall])
    }

    /// Nothing at all until the client disconnects.
    public static let silence = OriginAnswer([.stall])

    /// The answer, once the gate is open.
    public func held(by gate: OriginGate) -> OriginAnswer {
        OriginAnswer([.wait(gate)] + steps)
    }

    /// A closure for a route: 304 when the request's validators match (RFC 9110 §13.1), else the body with them.
    public static func validated(
        _ body: [UInt8], entityTag: String? = nil, lastModified: String? = nil,
        fields: [(String, String)] = []
    ) -> @Sendable (OriginHTTPRequest) -> OriginAnswer {
        { request in
            let validators =
                (entityTag.map { [("ETag", $0)] } ?? [])
                + (lastModified.map { [("Last-Modified", $0)] } ?? [])
            let isSame: Bool
            if let asked = request["if-none-match"] {
                isSame = asked == entityTag
            } else {
                isSame = lastModified != nil && request["if-modified-since"] == lastModified
            }
            return isSame
                ? .status(304, fields: validators + fields) : .body(body, fields: validators + fields)
        }
    }

    /// The bytes of a head.
    public static func head(_ status: Int, _ fields: [(String, String)]) -> [UInt8] {
        let lines = fields.map { "\($0.0): \($0.1)\r\n" }.joined()
        return Array("HTTP/1.1 \(status) Fake\r\n\(lines)\r\n".utf8)
    }
}

extension OriginAnswer {
    /// The same without a body, for `HEAD`: everything up to the empty line of the first piece.
    var headOnly: OriginAnswer {
        var steps = steps
        for (index, step) in steps.enumerated() {
            guard case .send(let bytes) = step else { continue }
            let end = bytes.indices.first { bytes[$0...].starts(with: "\r\n\r\n".utf8) }
            steps[index] = .send(Array(bytes[..<(end.map { $0 + 4 } ?? bytes.count)]))
            return OriginAnswer(Array(steps[...index]))
        }
        return self
    }
}
