// SPDX-License-Identifier: Apache-2.0

/// Ends what takes too long.
enum Deadline {
    /// Runs an exchange and cancels it when it has lasted for `limit` by a clock.
    /// - Throws: what the exchange throws then; `cancelled` where the caller's task was cancelled.
    static func run<Value: Sendable>(
        within limit: Duration, by clock: any Clock<Duration>,
        _ exchange: @escaping @Sendable () async throws(ExchangeError) -> Value
    ) async throws(ExchangeError) -> Value {
        try await run(exchange) {
            // Ignored: that the exchange has ended first, which the caller checks.
            try? await clock.sleep(for: limit)
            return true
        }
    }

    /// Runs an exchange and cancels it when `givesUp` returns true.
    /// - Parameter givesUp: waits for a reason to give up; its task is cancelled with the end of the exchange.
    static func run<Value: Sendable>(
        _ exchange: @escaping @Sendable () async throws(ExchangeError) -> Value,
        until givesUp: @escaping @Sendable () async -> Bool
    ) async throws(ExchangeError) -> Value {
        let work = Task { () -> Result<Value, ExchangeError> in
            do throws(ExchangeError) {
                return .success(try await exchange())
            } catch {
                return .failure(error)
            }
        }
        let watch = Task {
            if await givesUp(), !Task.isCancelled { work.cancel() }
        }
        let result = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        watch.cancel()
        // The cancellation of the caller says nothing of the exchange.
        if Task.isCancelled { throw .cancelled }
        return try result.get()
    }
}
