// SPDX-License-Identifier: Apache-2.0

/// Who may hold how much memory for pixels: first come, first served, and never more than the total at once.
///
/// A job that alone exceeds the total runs when nobody else does.
struct MemoryBudget {
    /// Most bytes at once.
    let total: Int
    private var held: [Int: Int] = [:]
    private var waiting: [(slot: Int, bytes: Int)] = []

    /// Nobody holds anything.
    init(total: Int) {
        self.total = total
    }

    /// Bytes held now.
    ///
    /// Without overflow: what is beyond the total is held by one alone.
    var sum: Int { held.values.reduce(0, +) }

    /// Grants what a worker asks for, or has it wait; it may then ask again.
    mutating func grant(_ bytes: Int, to slot: Int) -> Bool {
        if !waiting.contains(where: { $0.slot == slot }) { waiting.append((slot, bytes)) }
        guard waiting.first?.slot == slot, held.isEmpty || bytes <= total - sum else { return false }
        waiting.removeFirst()
        held[slot] = bytes
        return true
    }

    /// Takes back what a worker holds or waits for; returns who may ask now.
    mutating func release(_ slot: Int) -> Int? {
        held[slot] = nil
        waiting.removeAll { $0.slot == slot }
        return next
    }

    /// Who waits the longest.
    var next: Int? { waiting.first?.slot }
}
