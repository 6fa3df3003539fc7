// SPDX-License-Identifier: Apache-2.0

import Primitives
import Request
import URLs

/// The parameters of an admin request: each known, each at most once.
struct AdminQuery {
    private let values: [String: String]

    /// Parses a query.
    /// - Parameter names: the parameters that are known.
    init(_ query: [UInt8], names: Set<String>) throws(AdminFailure) {
        do throws(ImageRequestError) {
            let items = try QueryString(parsing: query, knowing: names.contains).items
            if let item = items.first(where: { !names.contains($0.name) }) {
                let known = names.sorted().joined(separator: ", ")
                throw .unknownParameter(name: item.name.excerpt, hint: "known are \(known)")
            }
            values = Dictionary(uniqueKeysWithValues: items.map { ($0.name, $0.value) })
        } catch {
            throw .request(error)
        }
    }

    subscript(name: String) -> String? { values[name] }

    /// The names that were given.
    var names: Set<String> { Set(values.keys) }

    /// `url`, or `url64`; nil when neither was given.
    func source(_ buckets: Buckets) throws(AdminFailure) -> SourceURL? {
        do throws(ImageRequestError) {
            return try ImageRequestParser.source(
                url: values["url"], url64: values["url64"], buckets: buckets)
        } catch {
            throw .request(error)
        }
    }

    /// The error about an invalid parameter.
    static func invalid(_ name: String, _ reason: String) -> AdminFailure {
        .request(.invalidParameter(name: name, position: 0, reason: reason))
    }
}
