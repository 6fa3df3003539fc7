// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Grants memory for pixels, never more than the total at once: first come, first served among clients that
/// hold none, and then among those that hold some.
///
/// So a client's second large job does not delay others until its first one has ended. A job that alone
/// exceeds the total runs when no other does.
struct MemoryBudget {
    private struct Share {
        let slot: Int
        let bytes: Int
        let clients: [ClientID?]
    }

    /// Most bytes at once.
    let total: Int
    private var held: [Share] = []
    private var waiting: [Share] = []

    /// No job holds any memory.
    init(total: Int) {
        self.total = total
    }

    /// Bytes held now.
    ///
    /// Without overflow: what is beyond the total is held by one alone.
    var sum: Int { held.reduce(0) { $0 + $1.bytes } }

    /// Grants what a worker requests, or has it wait; it may then request again.
    /// - Parameter clients: those that wait for the worker's job.
    mutating func grant(_ bytes: Int, to slot: Int, for clients: [ClientID?] = [nil]) -> Bool {
        if !waiting.contains(where: { $0.slot == slot }) {
            waiting.append(Share(slot: slot, bytes: bytes, clients: clients))
        }
        guard let index = nextIndex, waiting[index].slot == slot, held.isEmpty || bytes <= total - sum else {
            return false
        }
        held.append(waiting.remove(at: index))
        return true
    }

    /// Takes back what a worker holds or waits for; returns who may ask now.
    mutating func release(_ slot: Int) -> Int? {
        held.removeAll { $0.slot == slot }
        waiting.removeAll { $0.slot == slot }
        return next
    }

    /// The worker whose turn it is.
    var next: Int? { nextIndex.map { waiting[$0].slot } }

    /// The first that waits for a client without memory; where there is none, the first.
    private var nextIndex: Int? {
        let first = waiting.firstIndex { share in
            share.clients.contains { client in !held.contains { $0.clients.contains(client) } }
        }
        return first ?? waiting.indices.first
    }
}
