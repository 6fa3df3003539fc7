// SPDX-License-Identifier: Apache-2.0

import Primitives

/// How far an order is: counts of images, and why some failed. Pure; a few kilobytes at most.
struct PrefetchProgress: Sendable, Equatable {
    /// Where an order stands.
    enum State: String, Sendable {
        /// Nothing of it has begun.
        case waiting
        case running
        /// All its images have been tried.
        case done
        /// An operator has ended it.
        case cancelled
        /// The daemon ended, or the client that had more sources for it has left.
        case interrupted
    }

    /// Why images failed.
    struct Reason: Sendable, Equatable {
        let code: String
        let title: String
        var count = 0
        /// The first sources that failed with it.
        var examples: [String] = []
    }

    let token: String
    var state = State.waiting
    /// The sources and the images that have been ordered so far.
    var urls = 0, total = 0
    var finished = 0, skipped = 0, failed = 0
    /// Bytes of the images that were made.
    var bytes = 0
    /// In seconds since 1970; nil if it has not begun, or ended.
    var ordered: Int64 = 0
    var started: Int64?
    var ended: Int64?
    var reasons: [Reason] = []

    /// The maximum number of reasons that are distinguished; further ones are counted as others.
    static let maxReasons = 12
    private static let maxExamples = 2
    /// The maximum number of bytes of an example, and of a title.
    private static let maxTextBytes = 200
    private static let others = Reason(code: "other", title: "Other reasons")

    init(token: String) {
        self.token = token
    }

    /// Counts an image that failed.
    mutating func fail(_ code: String, _ title: String, at url: String) {
        failed += 1
        var index = reasons.firstIndex { $0.code == code } ?? reasons.count
        if index == reasons.count {
            if reasons.count < Self.maxReasons - 1 {
                reasons.append(Reason(code: code, title: Self.cut(title)))
            } else {
                index = reasons.firstIndex { $0.code == Self.others.code } ?? reasons.count
                if index == reasons.count { reasons.append(Self.others) }
            }
        }
        reasons[index].count += 1
        let example = Self.cut(url)
        guard reasons[index].examples.count < Self.maxExamples, !reasons[index].examples.contains(example)
        else { return }
        reasons[index].examples.append(example)
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > maxTextBytes else { return text }
        var scalars = text.unicodeScalars.prefix(maxTextBytes)
        while scalars.reduce(0, { $0 + UTF8.width($1) }) > maxTextBytes - UTF8.width("…") {
            scalars.removeLast()
        }
        return String(scalars) + "…"
    }

    // MARK: - JSON

    /// Without the reasons, for a list.
    var summary: JSONValue {
        [
            "token": .string(token), "state": .string(state.rawValue), "urls": .integer(urls),
            "total": .integer(total), "finished": .integer(finished), "skipped": .integer(skipped),
            "failed": .integer(failed), "bytes": .integer(bytes), "ordered": .integer(Int(ordered)),
            "started": started.map { .integer(Int($0)) } ?? .null,
            "ended": ended.map { .integer(Int($0)) } ?? .null,
        ]
    }

    var json: JSONValue {
        let reasons = reasons.map { reason -> JSONValue in
            [
                "code": .string(reason.code), "title": .string(reason.title), "count": .integer(reason.count),
                "examples": .strings(reason.examples),
            ]
        }
        return summary.setting(["reasons"], to: .array(reasons))
    }

    /// Reads what `json` has written; nil for anything else.
    init?(_ json: JSONValue) {
        guard case .string(let token)? = json["token"], Self.isToken(token),
            case .string(let name)? = json["state"], let state = State(rawValue: name)
        else { return nil }
        func number(_ name: String) -> Int? {
            guard case .integer(let number)? = json[name], number >= 0 else { return nil }
            return number
        }
        self.token = token
        self.state = state
        urls = number("urls") ?? 0
        total = number("total") ?? 0
        finished = number("finished") ?? 0
        skipped = number("skipped") ?? 0
        failed = number("failed") ?? 0
        bytes = number("bytes") ?? 0
        ordered = Int64(number("ordered") ?? 0)
        started = number("started").map(Int64.init)
        ended = number("ended").map(Int64.init)
        guard case .array(let values)? = json["reasons"] else { return }
        reasons = values.prefix(Self.maxReasons).compactMap { value in
            guard case .string(let code)? = value["code"], case .string(let title)? = value["title"],
                case .integer(let count)? = value["count"], case .array(let examples)? = value["examples"]
            else { return nil }
            let texts = examples.prefix(Self.maxExamples).compactMap { example -> String? in
                guard case .string(let text) = example else { return nil }
                return text.utf8.count > Self.maxTextBytes ? nil : text
            }
            return Reason(
                code: Self.cut(code), title: Self.cut(title), count: max(0, count), examples: texts)
        }
    }

    /// The length of a token: 128 random bits in hexadecimal digits.
    static let tokenLength = 32

    /// Whether a text has the form of a token.
    static func isToken(_ text: some StringProtocol) -> Bool {
        text.utf8.count == tokenLength && text.allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }

    /// A token that can't be guessed.
    static func newToken() -> String {
        let digits = String(UInt128.random(in: 0...UInt128.max), radix: 16)
        return String(repeating: "0", count: tokenLength - digits.count) + digits
    }
}
