// SPDX-License-Identifier: Apache-2.0

import Primitives

/// One job of the disk tier's writer.
struct WriteJob: Sendable {
    /// The work: runs on the writer's thread.
    typealias Work<Value> = @Sendable (DiskWriter, inout WriteBatch) throws(DiskCacheError) -> Value
    typealias Completion<Value> = @Sendable (Result<Value, DiskCacheError>) -> Void

    /// Does the work, and has the batch call the completion; a failure is counted.
    let run: @Sendable (DiskWriter, inout WriteBatch) -> Void
    /// Whether it may wait for others to share a batch with.
    let isDeferred: Bool
    /// The client whose entry it stores; nil for the daemon itself, for purges, and for clients that can't be distinguished.
    let client: ClientID?

    /// - Parameter completion: called once, when the batch is in the index or has failed; nil if no caller waits.
    init<Value>(
        for client: ClientID? = nil, isDeferred: Bool = false, _ work: @escaping Work<Value>,
        completion: Completion<Value>? = nil
    ) {
        self.isDeferred = isDeferred
        self.client = client
        run = { writer, batch in
            do throws(DiskCacheError) {
                let value = try work(writer, &batch)
                guard let completion else { return }
                batch.completions.append { completion($0.map { .failure($0) } ?? .success(value)) }
            } catch {
                writer.storage.failed(with: error)
                completion?(.failure(error))
            }
        }
    }
}
