// SPDX-License-Identifier: Apache-2.0

import Bodies
package import Primitives

/// What the tier is asked about: one picture of one source.
package struct SharedSubject: Sendable, Hashable {
    /// The source's key and the text behind it.
    package var source: CacheKey, sourceText: String
    /// The source's URL, as purges by prefix compare it.
    package var url: String
    /// The picture's key and the text behind it.
    package var result: CacheKey, resultText: String
    /// The request's tags.
    package var tags: [String]

    /// Combines the members.
    package init(
        source: CacheKey, sourceText: String, url: String, result: CacheKey, resultText: String,
        tags: [String]
    ) {
        (self.source, self.sourceText, self.url) = (source, sourceText, url)
        (self.result, self.resultText, self.tags) = (result, resultText, tags)
    }

    /// The bytes that it takes in a queue.
    var byteCount: Int {
        256 + 2 * sourceText.utf8.count + resultText.utf8.count + tags.reduce(0) { $0 + $1.utf8.count }
    }
}

/// The names of objects in the bucket. What spreads the load comes first: two digits of a hash.
enum ObjectName {
    static func record(of source: CacheKey) -> String { "\(source.description.prefix(2))/s/\(source)" }

    static func original(_ hash: ContentHash) -> String {
        let digits = hash.bytes.hexadecimal
        return "\(digits.prefix(2))/o/\(digits)"
    }

    /// What the names of all results of a source begin with.
    static func results(of source: CacheKey) -> String {
        "\(source.description.prefix(2))/r/\(source)/"
    }

    static func result(_ result: CacheKey, of source: CacheKey) -> String {
        results(of: source) + result.description
    }

    /// The purge journal.
    static let journal = "p/"

    /// When a part of the bucket was swept last.
    static func sweepMark(_ part: UInt8) -> String { "w/" + part.hexadecimal }

    /// Whether a name is one of those above, and not of something else in the bucket.
    static func isOwn(_ name: String) -> Bool {
        if name.hasPrefix(journal) { return SharedPurge(name: name) != nil }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count > 2, parts[0].utf8.count == 2, parts[2].hasPrefix(parts[0]),
            parts[2...].allSatisfy({ $0.utf8.allSatisfy(isDigit) })
        else { return false }
        return switch (parts[1], parts.count) {
        case ("s", 3): parts[2].utf8.count == 32
        case ("o", 3): parts[2].utf8.count == 64
        case ("r", 4): parts[2].utf8.count == 32 && parts[3].utf8.count == 32
        default: false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte.isASCIIDigit || (0x61...0x66).contains(byte)
    }

    /// The parts of the bucket, by their first two digits.
    static func part(_ part: UInt8) -> String { part.hexadecimal + "/" }
}
