// SPDX-License-Identifier: Apache-2.0

import Primitives

/// What becomes of an option that the other proxy ignores: an error, or, where the dialect is lenient, a note.
struct Leniency {
    /// Whether it is ignored here, too.
    let isLenient: Bool
    /// The options without an effect, with why.
    private(set) var notes: [String] = []
    /// The same: a target may have thousands of different ones.
    private var noted: Set<String> = []

    init(isLenient: Bool) {
        self.isLenient = isLenient
    }

    /// Notes an option that the other proxy ignores.
    /// - Throws: the option, unless the dialect is lenient.
    mutating func ignoreOrThrow(_ option: String, _ reason: String) throws(TranslationError) {
        guard isLenient else { throw TranslationError(.invalid, option.excerpt, reason) }
        note(option, reason)
    }

    /// Notes an option that changes nothing that can be seen.
    mutating func note(_ option: String, _ reason: String) {
        let note = "\(option.excerpt): \(reason)"
        if noted.insert(note).inserted { notes.append(note) }
    }
}
