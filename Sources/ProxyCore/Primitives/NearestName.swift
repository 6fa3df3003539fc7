// SPDX-License-Identifier: Apache-2.0

/// Returns the name that was probably meant: the one with the fewest letters to add, drop, change or swap, when those
/// are at most a third of the longer name; letters' case does not count.
package func nearest(to name: String, among names: some Sequence<String>) -> String? {
    guard name.utf8.count <= longestNameWithHint else { return nil }
    let typed = Array(name.lowercased().utf8)
    var best: (name: String, distance: Int)?
    for candidate in names.sorted() {
        let letters = Array(candidate.lowercased().utf8)
        let most = max(typed.count, letters.count) / 3
        // So many letters are to be added or dropped at least: nothing is compared that can't be meant.
        guard abs(typed.count - letters.count) <= most else { continue }
        let distance = distance(typed, letters)
        if distance <= most, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.name
}

/// The question that names it; nil where nothing comes near.
package func suggestion(for name: String, among names: some Sequence<String>) -> String? {
    nearest(to: name, among: names).map { "did you mean '\($0)'?" }
}

/// The same for the reason of a refused request: behind a semicolon, and empty where there is none.
///
/// Every client can cause it, and comparing takes time for each name: with many of them there is none.
package func requestHint(for name: String, among names: some Collection<String>) -> String {
    guard names.count <= mostNamesWithHint else { return "" }
    return suggestion(for: name, among: names).map { "; \($0)" } ?? ""
}

/// The maximum number of names that a request is compared with.
private let mostNamesWithHint = 100

/// A longer name gets no hint: comparing takes time proportional to its length.
private let longestNameWithHint = 100

/// Damerau and Levenshtein's distance, swaps of neighbours only.
private func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
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
