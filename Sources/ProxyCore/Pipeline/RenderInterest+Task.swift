// SPDX-License-Identifier: Apache-2.0

extension RenderInterest {
    /// The interest of the current task's client.
    convenience init(_ priority: FetchPriority?) {
        self.init(FetchContext.current.client, priority ?? .normal)
    }

    /// Renders for this interest in `work`.
    func carried<Value: Sendable>(
        _ work: @Sendable () async throws(PipelineError) -> Value
    ) async throws(PipelineError) -> Value {
        let outcome: Result<Value, PipelineError> = await Self.$current.withValue(self) {
            do throws(PipelineError) { return .success(try await work()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// Adds the current task's client.
    func join(_ priority: FetchPriority?) {
        join(FetchContext.current.client, priority ?? .normal)
    }
}
