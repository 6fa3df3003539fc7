// SPDX-License-Identifier: Apache-2.0

import Primitives

/// What the running hops have done since the loader's thread last looked, so that it looks at no others. Confined to
/// that thread.
final class TransferActivity {
    /// Whether libcurl has tried an address of any hop, or was refused it, or may know what became of it.
    private(set) var hasTriedAddress = false
    private var active: [UInt64] = []
    private var waiting = FIFO<UInt64>()

    /// Records a try.
    func noteTriedAddress() { hasTriedAddress = true }

    /// Records that a job's hop has sent or received something; once until `takeActive`.
    func note(_ job: UInt64) { active.append(job) }

    /// Records that a job's body waits for its turn: to be decoded, or to be received further.
    func noteWaiting(_ job: UInt64) { waiting.append(job) }

    /// Removes and returns the job whose body has waited longest.
    func takeWaiting() -> UInt64? { waiting.popFirst() }

    /// Whether a body waits.
    var hasWaiting: Bool { !waiting.isEmpty }

    /// Whether an address has been tried since the last call.
    func takeHasTriedAddress() -> Bool {
        defer { hasTriedAddress = false }
        return hasTriedAddress
    }

    /// Removes and returns the jobs that were recorded.
    func takeActive() -> [UInt64] {
        defer { active.removeAll(keepingCapacity: true) }
        return active
    }
}
