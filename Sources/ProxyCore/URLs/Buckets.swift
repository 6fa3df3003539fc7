// SPDX-License-Identifier: Apache-2.0

/// The buckets that sources may name: `s3://bucket/key` and `gs://bucket/key` are other spellings of HTTP URLs.
///
/// They are resolved where a URL is read, so nothing else knows them.
package struct Buckets: Sendable, Hashable {
    private let all: [Bucket]

    /// None.
    package static let none = Buckets([])

    /// The first that fits a name is its bucket.
    package init(_ all: [Bucket]) {
        self.all = all
    }

    /// Parses a source's URL in any spelling.
    ///
    /// The key is a URL's path: a space in it is `%20`, a question mark `%3F`. Only the parameter that names a version may
    /// follow it.
    package func url(_ text: String) throws(SourceURLError) -> SourceURL {
        guard let place = BucketPlace(text) else { return try SourceURL(parsing: text) }
        try SourceURLSyntax.checkCharacters(text)
        let prefix = try prefix(of: place)
        let parts = place.rest.dropFirst().split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard place.rest.first == "/", let key = parts.first, !key.isEmpty else {
            throw .malformed("there is no key after the bucket")
        }
        guard !place.rest.contains("#") else { throw .malformed("a # of the key must be %23") }
        if parts.count > 1 {
            let version = place.store.versionParameter
            guard parts[1].hasPrefix(version + "="), !parts[1].contains("&") else {
                throw .malformed("only ?\(version)= may follow the key, whose question marks are %3F")
            }
        }
        // Such a segment would be removed, and lead out of the bucket where that is a folder.
        guard !URLPattern.hidesDotSegment(SourceURLSyntax.decodingDots("/" + key)) else {
            throw .malformed("a key has no . or .. as a segment")
        }
        return try SourceURL(parsing: prefix + place.rest.dropFirst())
    }

    /// The HTTP URL that a text stands for, without a check of what follows the bucket.
    package func resolved(_ text: String) throws(SourceURLError) -> String {
        guard let place = BucketPlace(text) else { return text }
        return try prefix(of: place) + place.rest.dropFirst()
    }

    /// Parses a pattern; one for all buckets of a store may be several.
    package func patterns(_ text: String) throws(URLPattern.Invalid) -> [URLPattern] {
        guard let place = BucketPlace(text) else { return [try URLPattern(text)] }
        var texts: [String] = []
        if place.name == "*" {
            guard place.rest == "/*" else {
                throw URLPattern.Invalid(reason: "all buckets of a store are \(place.store)://*/*")
            }
            texts = all.filter { $0.store == place.store && $0.name == nil }.flatMap(\.patterns)
            guard !texts.isEmpty else {
                throw URLPattern.Invalid(reason: "no rule of origins has the bucket \(place.store)://*/")
            }
        } else {
            guard place.rest.first == "/", place.rest.count > 1 else {
                throw URLPattern.Invalid(
                    reason: "expected a key after the bucket, such as \(place.store)://\(place.name)/*")
            }
            do throws(SourceURLError) {
                texts = [try resolved(text)]
            } catch {
                throw URLPattern.Invalid(
                    reason: "no rule of origins has the bucket \(place.store)://\(place.name)/")
            }
        }
        var patterns: [URLPattern] = []
        for text in texts { patterns.append(try URLPattern(text)) }
        return patterns
    }

    private func prefix(of place: BucketPlace) throws(SourceURLError) -> String {
        guard place.hasValidName else { throw .malformed(BucketPlace.names) }
        guard
            let bucket = all.first(where: {
                $0.store == place.store && ($0.name == nil || $0.name == place.name)
            })
        else { throw .unknownBucket("\(place.store)://\(place.name)/") }
        return bucket.prefix(of: place.name)
    }
}
