// SPDX-License-Identifier: Apache-2.0

import Primitives

/// A bucket of an object store, or all buckets of one, and where HTTP finds them.
package struct Bucket: Sendable, Hashable {
    /// The protocol of a store.
    package enum Store: String, Sendable, CaseIterable {
        /// S3, of AWS and others.
        case s3
        /// Google Cloud Storage.
        case gs

        /// The one parameter that may follow a key: it names a version of the object.
        var versionParameter: String {
            switch self {
            case .s3: "versionId"
            case .gs: "generation"
            }
        }
    }

    let store: Store
    /// nil for any.
    let name: String?
    /// Where the store is; its path ends in a slash.
    let endpoint: SourceURL
    /// Whether the bucket is a folder of the endpoint, and not a label of its host.
    let isPathStyle: Bool

    /// Why it is no bucket.
    package struct Invalid: Error {
        /// The reason, for an error message.
        package let reason: String

        /// Wraps a reason.
        package init(reason: String) {
            self.reason = reason
        }
    }

    /// The store and the name that `s3://name/` or `gs://name/` says; nil for the name `*`.
    package static func parse(_ text: String) throws(Invalid) -> (store: Store, name: String?) {
        guard let place = BucketPlace(text), place.rest == "/" || place.rest.isEmpty else {
            throw Invalid(
                reason: "a bucket is written s3://name/ or gs://name/, or s3://*/ for all of a store")
        }
        guard place.name == "*" || place.hasValidName else { throw Invalid(reason: BucketPlace.names) }
        return (place.store, place.name == "*" ? nil : place.name)
    }

    /// Creates a bucket.
    /// - Parameters:
    ///   - store: whose interface it has.
    ///   - name: nil where the endpoint names it.
    ///   - endpoint: without a query.
    ///   - isPathStyle: whether its name stands in the path, not in the host.
    package init(
        store: Store, name: String?, endpoint: SourceURL, isPathStyle: Bool
    ) throws(Invalid) {
        guard endpoint.query == nil else { throw Invalid(reason: "an endpoint has no query") }
        guard isPathStyle || endpoint.literalAddress == nil else {
            throw Invalid(reason: "an address has no host for each bucket: set pathStyle")
        }
        (self.store, self.name, self.isPathStyle) = (store, name, isPathStyle)
        do throws(SourceURLError) {
            let text = endpoint.normalized
            self.endpoint = text.hasSuffix("/") ? endpoint : try SourceURL(parsing: text + "/")
        } catch {
            throw Invalid(reason: "the endpoint is too long")
        }
    }

    /// The URLs of all sources of the bucket, or of all buckets, as patterns.
    package var patterns: [String] {
        guard name == nil else { return [prefix(of: name ?? "") + "*"] }
        let byPath = endpoint.normalized + "*"
        return isPathStyle ? [byPath] : [inHost("*") + "*", byPath]
    }

    /// What the URLs of a bucket's objects begin with.
    ///
    /// A name that can't be the label of a host, or has a full stop, which a certificate for `*.host` does not cover, is a
    /// folder.
    func prefix(of name: String) -> String {
        isPathStyle || !Self.isLabel(name) ? endpoint.normalized + name + "/" : inHost(name)
    }

    private func inHost(_ label: String) -> String {
        let start = endpoint.scheme + "://"
        return start + label + "." + endpoint.normalized.dropFirst(start.count)
    }

    private static func isLabel(_ name: String) -> Bool {
        name.utf8.count <= 63
            && name.utf8.allSatisfy {
                (0x61...0x7A).contains($0) || $0.isASCIIDigit || $0 == UInt8(ascii: "-")
            }
    }
}

/// A text split at its bucket: `s3://name/rest`.
struct BucketPlace {
    let store: Bucket.Store
    let name: String
    /// What follows the name, with its slash.
    let rest: Substring

    /// What a bucket's name may be.
    static let names =
        "a bucket's name has letters, digits and - _ . and begins and ends with a letter or digit"
    private static let maxName = 222

    /// nil for every other scheme.
    init?(_ text: String) {
        let store = Bucket.Store.allCases.first { text.prefix(5).lowercased() == $0.rawValue + "://" }
        guard let store else { return nil }
        self.store = store
        let bytes = text.utf8.dropFirst(5)
        let end = bytes.firstIndex(where: SourceURLSyntax.isAuthorityEnd) ?? bytes.endIndex
        name = String(text[bytes.startIndex..<end])
        rest = text[end...]
    }

    /// Whether the name is only that: nothing in it can change the host of a URL, or the folder.
    var hasValidName: Bool {
        let bytes = Array(name.utf8)
        guard (1...Self.maxName).contains(bytes.count), !name.contains(".."),
            let first = bytes.first, let last = bytes.last
        else { return false }
        return first.isASCIIAlphanumeric && last.isASCIIAlphanumeric
            && bytes.allSatisfy { $0.isASCIIAlphanumeric || "-_.".utf8.contains($0) }
    }
}
