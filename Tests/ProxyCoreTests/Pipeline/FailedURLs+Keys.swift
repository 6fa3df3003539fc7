// SPDX-License-Identifier: Apache-2.0

@testable import Bodies
@testable import Pipeline
@testable import Primitives

/// Sources whose whole URL has the source's key, requested by clients without proxies.
extension FailedURLs {
    func remember(
        _ failure: PipelineError, source: CacheKey, result: CacheKey, _ text: String = "",
        atMost seconds: Int64? = nil, at now: Int64
    ) {
        remember(
            failure, source: source, as: source, result: result, text, nil, isOfResult: false,
            atMost: seconds, at: now)
    }

    func beginVerification(of source: CacheKey, at now: Int64) -> Bool {
        beginVerification(of: source, as: source, nil, nil, at: now)
    }

    func endVerification(of source: CacheKey, _ text: String, _ verdict: Verdict, at now: Int64) {
        endVerification(of: source, as: source, text, verdict, nil, at: now)
    }
}
