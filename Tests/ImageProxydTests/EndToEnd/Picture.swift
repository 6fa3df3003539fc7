// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// A picture that an origin sends in two parts; only its first bytes are those of a picture.
struct Picture {
    let first: [UInt8]
    let rest: [UInt8]

    var bytes: [UInt8] { first + rest }

    init(first: Int = 100_000, rest: Int = 100_000) {
        var bytes = Array(Fixtures.photo.prefix(16))
        bytes += (16..<(first + rest)).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        self.first = Array(bytes[..<first])
        self.rest = Array(bytes[first...])
    }

    /// The plain bytes, the first half first.
    init(coded bytes: [UInt8]) {
        first = Array(bytes[..<(bytes.count / 2)])
        rest = Array(bytes[(bytes.count / 2)...])
    }

    /// How the answers of an origin differ.
    enum Length: CaseIterable {
        case declared, chunked, untilClose
    }

    /// The answer whose second part is sent once the gate is open.
    func answer(
        _ gate: OriginGate, _ length: Length = .declared, control: String = "max-age=600",
        coding: String? = nil
    ) -> OriginAnswer {
        let fields =
            [("Content-Type", "image/jpeg"), ("Cache-Control", control)]
            + (coding.map { [("Content-Encoding", $0)] } ?? [])
        switch length {
        case .declared:
            return OriginAnswer([
                .send(OriginAnswer.head(200, fields + [("Content-Length", "\(bytes.count)")]) + first),
                .wait(gate), .send(rest),
            ])
        case .chunked:
            return OriginAnswer([
                .send(
                    OriginAnswer.head(200, fields + [("Transfer-Encoding", "chunked")]) + Self.chunk(first)),
                .wait(gate), .send(Self.chunk(rest) + Self.chunk([])),
            ])
        case .untilClose:
            return OriginAnswer([
                .send(OriginAnswer.head(200, fields + [("Connection", "close")]) + first),
                .wait(gate), .send(rest), .close,
            ])
        }
    }

    /// The answer that breaks off after the first part once the gate is open.
    func broken(_ gate: OriginGate, _ length: Length, by ending: OriginAnswer.Step = .close) -> OriginAnswer {
        OriginAnswer([answer(gate, length).steps[0], .wait(gate), ending])
    }

    private static func chunk(_ bytes: [UInt8]) -> [UInt8] {
        Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }
}

/// Compares long bodies without printing them when they differ.
func isSame(_ body: [UInt8], _ other: [UInt8]) -> Bool { body == other }
