// SPDX-License-Identifier: Apache-2.0

import Freshness
import Primitives

/// Parses the parameters that are not part of any key.
enum DeliveryReading {
    /// The maximum number of bytes of a file name: the limit of most file systems.
    private static let maxFilenameBytes = 255

    /// `options`: names, separated by commas.
    static func options(_ value: String) throws(ImageRequestError) -> ImageOptions {
        var options: ImageOptions = []
        for (position, name) in members(of: value) {
            guard let option = ImageOptions(named: name) else {
                let known = ImageOptions.names.map(\.name)
                let hint = suggestion(for: String(name), among: known).map { "; \($0)" } ?? ""
                throw .invalidParameter(
                    name: "options", position: position,
                    reason: "'\(name.excerpt)' is none of \(known.joined(separator: ", "))\(hint)")
            }
            guard options.insert(option).inserted else {
                throw .invalidParameter(
                    name: "options", position: position, reason: "'\(name)' is given more than once")
            }
        }
        guard !options.isSuperset(of: [.fromCacheOnly, .fromLoaderOnly]) else {
            throw .invalidParameter(
                name: "options", position: 0,
                reason: "from-cache-only and from-loader-only exclude each other")
        }
        return options
    }

    /// `tag`: names, separated by commas; duplicates count once.
    static func tags(_ value: String) throws(ImageRequestError) -> [String] {
        var tags: [String] = []
        for (position, tag) in members(of: value) where !tags.contains(String(tag)) {
            guard Delivery.isTag(tag) else {
                throw .invalidParameter(
                    name: "tag", position: position,
                    reason: "a tag is 1 to \(Delivery.maxTagBytes) letters, digits and any of _ . : -")
            }
            guard tags.count < Delivery.maxTags else {
                throw .invalidParameter(
                    name: "tag", position: position, reason: "at most \(Delivery.maxTags) tags")
            }
            tags.append(String(tag))
        }
        return tags
    }

    /// `filename`: one name, no path.
    static func filename(_ value: String) throws(ImageRequestError) -> String {
        guard value.utf8.count <= maxFilenameBytes else {
            throw .invalidParameter(
                name: "filename", position: maxFilenameBytes, reason: "at most \(maxFilenameBytes) bytes")
        }
        let wrong = value.unicodeScalars.firstIndex { scalar in
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
                || "/\\".unicodeScalars.contains(scalar)
                || scalar.properties.generalCategory == .format || scalar.properties.isBidiControl
        }
        if let wrong {
            throw .invalidParameter(
                name: "filename", position: value.utf8.distance(from: value.utf8.startIndex, to: wrong),
                reason: "a name without slashes or control characters")
        }
        guard value != ".", value != ".." else {
            throw .invalidParameter(name: "filename", position: 0, reason: "a name, not a folder")
        }
        return value
    }

    /// The members of a comma-separated list, each with its offset in bytes.
    private static func members(of value: String) -> TextPieces {
        TextPieces(of: value[...], at: UInt8(ascii: ","))
    }
}
