// SPDX-License-Identifier: Apache-2.0

internal import CLinux

/// Divides the process's descriptors: the shares together never exceed the limit, so that no part lacks one
/// because of the others.
struct DescriptorBudget {
    /// The maximum number of open descriptors (RLIMIT_NOFILE).
    let all: Int
    /// Event loops and workers, each of which keeps some open.
    let loops: Int
    let workers: Int

    /// Descriptors that are always open: listeners, the index, the reserve for health checks.
    private static let basis = 50
    private static let perLoop = 3
    private static let perWorker = 2
    /// Fetches and workers' jobs get this fraction, at most `mostWork`.
    private static let workShare = 8
    private static let mostWork = 1_024
    /// The maximum for everything but clients and their files, libraries and work included.
    private static let mostOther = 3_072
    /// The minimum number of connections.
    private static let fewestConnections = 8

    /// Connections for health checks beyond all others: if there are more descriptors, a flood takes longer
    /// to exhaust them.
    var vital: Int { min(Self.mostVital, max(Self.fewestVital, all / Self.vitalShare)) }

    private static let vitalShare = 16
    private static let fewestVital = 16
    private static let mostVital = 64

    /// Descriptors of neither clients nor the files that they are answered from.
    var others: Int {
        let kept = Int(linux_kept_descriptors(UInt64(all)))
        return Self.basis + Self.perLoop * loops + Self.perWorker * workers + kept + vital
            + min(Self.mostWork, all / Self.workShare)
    }

    /// The maximum number of connections: half of all if there are few, so that as many clients can be
    /// answered from a file each.
    var connections: Int {
        max(Self.fewestConnections, min(all / 2, all - others), all - Self.mostOther)
    }

    /// Files that clients are answered from, while no client is connected.
    var files: Int { max(0, all - others) }
}
