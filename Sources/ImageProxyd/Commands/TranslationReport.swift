// SPDX-License-Identifier: Apache-2.0

import Dialects
import Pipeline
import Request

/// How many URLs of a log are understood, and which options are not.
struct TranslationReport {
    private var understood = 0
    private var all = 0
    /// The lines without a URL.
    private var otherLines = 0
    /// The options that stood in the way.
    private var obstacles: [String: Reason] = [:]
    /// The options that have no effect.
    private var ignored: [String: Reason] = [:]

    /// How often an option was met, and why it counts, the first time.
    private struct Reason {
        var text: String
        var count = 0
    }

    /// The number of options that are named.
    private static let mostNamed = 10
    /// The number of different options that are counted: clients choose their names.
    private static let mostCounted = 10_000

    /// Counts a line without a URL.
    mutating func countLine() { otherLines += 1 }

    /// Counts a URL.
    mutating func count(_ result: Result<Translation, ImageRequestError>) {
        all += 1
        switch result {
        case .success(let translation):
            understood += 1
            for note in Set(translation.ignored) {
                let option = note.split(separator: ":").first.map(String.init) ?? note
                Self.count(option, note, in: &ignored)
            }
        case .failure(let error):
            Self.count(error.obstacle, PipelineError(error).explanation, in: &obstacles)
        }
    }

    private static func count(_ option: String, _ text: String, in reasons: inout [String: Reason]) {
        let isKnown = reasons[option] != nil || reasons.count < mostCounted
        let reason = Reason(text: isKnown ? text : "other options")
        reasons[isKnown ? option : "", default: reason].count += 1
    }

    /// The counts, and the most frequent options with what is wrong with the first of each.
    var text: String {
        var lines = ["\(understood) of \(all) URLs are understood"]
        if otherLines > 0 { lines.append("lines without a URL: \(otherLines)") }
        lines += Self.lines("not understood", obstacles)
        lines += Self.lines("understood, but without effect", ignored)
        return lines.joined(separator: "\n")
    }

    private static func lines(_ title: String, _ reasons: [String: Reason]) -> [String] {
        guard !reasons.isEmpty else { return [] }
        let ranked = reasons.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
        let rest = ranked.count > mostNamed ? ["  … and \(ranked.count - mostNamed) more"] : []
        return ["\(title):"] + ranked.prefix(mostNamed).map { "  \($0.value.count) × \($0.value.text)" }
            + rest
    }
}

extension ImageRequestError {
    /// What stands in the way: an option of another proxy's URL, or something else in one line.
    fileprivate var obstacle: String {
        switch self {
        case .untranslated(let option, _) where !option.isEmpty: option
        case .dialectOptionForbidden(let option, _) where !option.isEmpty: option
        case .ofSource(let error, _): error.obstacle
        default: PipelineError(self).explanation
        }
    }
}

extension PipelineError {
    /// What is wrong, in one line.
    var explanation: String { detail ?? row.title }
}
