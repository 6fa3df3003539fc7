// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache
import Freshness
import Primitives
import Request

/// Failures that are remembered instead of repeated.
extension ImageJob {
    /// Throws what is remembered of the result, or of a source that its decoder could not bear: that is not decoded again for
    /// another size. What other bytes of the source have failed with does not count.
    func refuseFailed(_ content: ContentHash) throws(PipelineError) {
        guard !directives.retryFailed else { return }
        let known =
            failures.failure(of: request.resultKey, content, at: now.seconds)
            // That it can't be fetched now forbids nothing that needs no fetch.
            ?? failures.failure(ofSourceOf: request, context.history, content, at: now.seconds).flatMap {
                $0.isOfDecoding ? $0 : nil
            }
        guard let known else { return }
        context.forwarding?.note(.remembered)
        throw known
    }

    /// Remembers a failure if its row in the error table says so.
    ///
    /// What began before a purge is answered, and leaves nothing behind: it may be of what was purged.
    /// - Parameters:
    ///   - seconds: for which the origin allows it to be remembered; nil where it does not say.
    ///   - token: the job's own where it is nil.
    func remember(
        _ failure: PipelineError, atMost seconds: Int64? = nil, under token: PurgeToken? = nil
    ) {
        guard !isPrivate, (token ?? self.token).isValid else { return }
        failures.remember(failure, of: request, context.history, atMost: seconds, at: now.seconds)
    }
}
