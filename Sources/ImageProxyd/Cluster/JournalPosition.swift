// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Until when this node has done the purges of others: a file beside the disk tier, so that the next start goes on there.
struct JournalPosition: Sendable {
    private let path: String

    /// - Parameter folder: that of the disk tier.
    init(folder: String) { path = folder + "/purges-done" }

    /// Milliseconds of the store's clock; 0 where none is known, so that all purges are done.
    func read() -> Int64 {
        // Ignored: why it can't be read; then everything that was purged is purged again.
        guard let bytes = try? HostProcess.contents(of: path, isRegular: true),
            let time = Int64(String(decoding: bytes, as: UTF8.self).prefix { $0 != "\n" })
        else { return 0 }
        return max(0, time)
    }

    /// Replaces what is stored, if that is possible: else the next start does some purges again.
    func write(_ milliseconds: Int64) {
        _ = FileIO.replace(path, by: Array("\(milliseconds)\n".utf8))
    }
}
