// SPDX-License-Identifier: Apache-2.0

/// One job of the disk tier's writer.
struct WriteJob: Sendable {
    /// The work: runs on the writer's thread, and returns how many entries or records it concerned.
    typealias Work =
        @Sendable (DiskWriter, inout WriteBatch) throws(DiskCacheError) -> Int

    let work: Work
    /// Called once when it is done; nil if no caller waits.
    let completion: (@Sendable (Result<Int, DiskCacheError>) -> Void)?
    /// Whether it may wait for others to share a batch with.
    var isDeferred = false
}
