// SPDX-License-Identifier: Apache-2.0

import Observability
import Testing

@testable import Pipeline

@Suite("Where the fault of a failed request lies")
struct FailureCauseTests {
    @Test(
        "Clients, sources, origins and the daemon each answer for their own faults",
        arguments: [
            (PipelineError.invalidParameter, Metric.FailureCause.client), (.signatureMismatch, .client),
            (.tooManyRequests(retryAfter: 1), .client), (.emptyResult, .client), (.clientLeft, .client),
            (.upstreamNotFound(status: 404), .source), (.badImageData, .source), (.transformTimeout, .source),
            (.upstreamStatus(403, retryAfter: nil), .source),
            (.upstreamStatus(500, retryAfter: nil), .origin), (.upstreamTimeout, .origin),
            (.tlsFailed, .origin),
            (.upstreamUnreachable, .origin),
            (.hostUnavailable(retryAfter: 1), .origin), (.hostBusy(retryAfter: 1), .origin),
            (.queueFull, .daemon), (.queueTimeout, .daemon), (.engineUnavailable("none"), .daemon),
            (.internalFailure("it"), .daemon), (.noKeys, .daemon), (.workerKilled, .daemon),
        ])
    func causes(failure: PipelineError, cause: Metric.FailureCause) {
        #expect(failure.row.failureCause == cause)
    }
}
