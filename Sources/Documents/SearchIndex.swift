// SPDX-License-Identifier: Apache-2.0

internal import Primitives

/// What the search looks through: every section with its link, its beginning, and each other word once.
struct SearchIndex {
    /// A script that hands the index to `docs.js`; loaded with the first search.
    let script: [UInt8]

    /// The maximum number of characters of a section that a result shows.
    private static let excerptLength = 160

    init(_ pages: [Page], in navigation: Navigation) {
        let places = Dictionary(uniqueKeysWithValues: navigation.order.enumerated().map { ($1, $0) })
        let ordered = pages.sorted {
            places[$0.file.path, default: .max] < places[$1.file.path, default: .max]
        }
        let entries = ordered.flatMap { page in
            page.sections.map { section in
                let link = page.file.sitePath + (section.level == 1 ? "" : "#" + section.anchor)
                let text = section.text.split(separator: " ").joined(separator: " ")
                return JSONValue.array(
                    [
                        link, page.file.title, section.level == 1 ? "" : section.title,
                        String(text.prefix(Self.excerptLength)),
                        Self.words(in: text.dropFirst(Self.excerptLength)),
                    ].map { .string($0) })
            }
        }
        script = Array("documentSearch(\(JSONValue.array(entries).compact));\n".utf8)
    }

    /// Each word once, in small letters; names of settings stay whole.
    private static func words(in text: Substring) -> String {
        var known: Set<String> = []
        let words = text.lowercased().split { !($0.isLetter || $0.isNumber || "._-:/".contains($0)) }
        return words.map { $0.drop { !$0.isLetter && !$0.isNumber } }
            .filter { $0.count > 2 && known.insert(String($0)).inserted }.joined(separator: " ")
    }
}
