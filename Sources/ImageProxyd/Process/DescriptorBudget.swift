// SPDX-License-Identifier: Apache-2.0

internal import CLinux

/// Who may have how many of the process's descriptors: shares that together are never more than there are, so that nobody
/// finds none because of others.
struct DescriptorBudget {
    /// How many may be open (RLIMIT_NOFILE).
    let all: Int
    /// Event loops and workers, which keep some open each.
    let loops: Int
    let workers: Int

    /// What is open however little is to be done: listeners, the index, what is kept for health checks.
    private static let basis = 50
    private static let perLoop = 3
    private static let perWorker = 2
    /// Fetches and workers' jobs may have one in so many, at most `mostWork`.
    private static let workShare = 8
    private static let mostWork = 1_024
    /// What all but clients and their files have at most, libraries and work among them.
    private static let mostOther = 3_072
    /// So many clients there may always be.
    private static let fewestConnections = 8

    /// Connections for health checks beyond all others: where there are more, a flood takes longer to get at them.
    var vital: Int { min(Self.mostVital, max(Self.fewestVital, all / Self.vitalShare)) }

    private static let vitalShare = 16
    private static let fewestVital = 16
    private static let mostVital = 64

    /// Those of neither clients nor the files that they are answered from.
    var others: Int {
        let kept = Int(linux_kept_descriptors(UInt64(all)))
        return Self.basis + Self.perLoop * loops + Self.perWorker * workers + kept + vital
            + min(Self.mostWork, all / Self.workShare)
    }

    /// Most connections: half of all where there are few, so that as many clients can be answered from a file each.
    var connections: Int {
        max(Self.fewestConnections, min(all / 2, all - others), all - Self.mostOther)
    }

    /// Files that clients are answered from, while nobody is connected.
    var files: Int { max(0, all - others) }
}
