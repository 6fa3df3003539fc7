// SPDX-License-Identifier: Apache-2.0

/// The most frequent names of a stream of names that others choose, in bounded memory: Space-Saving (Metwally,
/// Agrawal and El Abbadi, 2005).
///
/// A name that makes up more than one part in `capacity` of the stream is always in the table.
struct TopTable: Sendable {
    /// A name with the sums of its events since it entered the table.
    struct Row: Sendable, Hashable {
        let name: String
        /// Its events, and those of the name whose place it took.
        fileprivate var weight: Int
        /// The events of the name whose place it took.
        fileprivate let inherited: Int
        var sums: [Int]

        /// The number of its own events that are certain.
        var count: Int { weight - inherited }
    }

    /// The maximum number of names.
    let capacity: Int
    /// The maximum length of a name, in bytes; a longer one is cut.
    let maxNameBytes: Int
    private(set) var rows: [Row] = []

    /// Counts one event; linear in `capacity`.
    /// - Parameter amounts: what is added to the sums; the same number each time.
    mutating func count(_ name: String, adding amounts: [Int]) {
        let name =
            name.utf8.count <= maxNameBytes
            ? name : String(decoding: name.utf8.prefix(maxNameBytes), as: UTF8.self)
        if let index = rows.firstIndex(where: { $0.name == name }) {
            rows[index].weight += 1
            for (place, amount) in amounts.enumerated() { rows[index].sums[place] &+= amount }
        } else if rows.count < capacity {
            rows.append(Row(name: name, weight: 1, inherited: 0, sums: amounts))
        } else if let index = rows.indices.min(by: { rows[$0].weight < rows[$1].weight }) {
            let weight = rows[index].weight
            rows[index] = Row(name: name, weight: weight + 1, inherited: weight, sums: amounts)
        }
    }
}
