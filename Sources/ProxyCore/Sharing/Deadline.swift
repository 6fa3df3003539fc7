// SPDX-License-Identifier: Apache-2.0

/// Ends what takes too long.
enum Deadline {
    /// Runs an exchange and cancels it when it has lasted for `limit` by a clock.
    /// - Throws: `timedOut` then; `cancelled` where the caller's task was cancelled.
    static func run<Value: Sendable>(
        within limit: Duration, by clock: any Clock<Duration>,
        _ exchange: @escaping @Sendable () async throws(ObjectStoreError) -> Value
    ) async throws(ObjectStoreError) -> Value {
        let work = Task { () -> Result<Value, ObjectStoreError> in
            do throws(ObjectStoreError) {
                return .success(try await exchange())
            } catch {
                return .failure(error)
            }
        }
        let timer = Task {
            // Lost: that the work has ended first.
            try? await clock.sleep(for: limit)
            if !Task.isCancelled { work.cancel() }
        }
        let result = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        timer.cancel()
        // The cancellation of the caller says nothing of the exchange.
        if Task.isCancelled { throw .cancelled }
        return try result.get()
    }
}
