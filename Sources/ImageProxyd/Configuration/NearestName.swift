// SPDX-License-Identifier: Apache-2.0

/// Returns the name that was probably meant: the one with the fewest letters to add, drop, change or swap, when those
/// are at most a third of the longer name; letters' case does not count.
func nearest(to name: String, among names: [String]) -> String? {
    guard name.utf8.count <= longestNameWithHint else { return nil }
    let scored = names.sorted().map { (name: $0, distance: distance(name.lowercased(), $0.lowercased())) }
    guard let best = scored.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance <= max(name.count, best.name.count) / 3 ? best.name : nil
}

/// A longer name gets no hint: comparing takes time proportional to its length.
private let longestNameWithHint = 100

/// Damerau and Levenshtein's distance, swaps of neighbours only.
private func distance(_ first: String, _ second: String) -> Int {
    let first = Array(first), second = Array(second)
    var rows = [Array(0...second.count)]
    for (line, letter) in first.enumerated() {
        var row = [line + 1]
        for (column, other) in second.enumerated() {
            let change = rows[line][column] + (letter == other ? 0 : 1)
            var cost = min(change, rows[line][column + 1] + 1, row[column] + 1)
            if line > 0, column > 0, letter == second[column - 1], first[line - 1] == other {
                cost = min(cost, rows[line - 1][column - 1] + 1)
            }
            row.append(cost)
        }
        rows.append(row)
    }
    return rows[first.count][second.count]
}
