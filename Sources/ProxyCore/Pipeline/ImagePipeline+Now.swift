// SPDX-License-Identifier: Apache-2.0

extension ImagePipeline {
    /// Hot path: a fresh picture of the disk tier, answered from its file and what the kernel has in memory.
    ///
    /// A handful of system calls, no task, no index. Nil where that is not enough to tell, whatever the reason: then
    /// `response` finds out.
    public func storedResponse(for request: ImageRequest) -> ImageResponse? {
        let isPlain = request.plan == nil
        guard request.delivery.tags.isEmpty, request.delivery.options.isEmpty,
            !isPlain || request.mayPassThrough, tiers.peek(request.resultKey) == nil
        else { return nil }
        let now = clock()
        return tiers.answerNow(request) { hit, record in
            request.accepts(record) && (!isPlain || mayPass(hit.description.format))
                && freshness.reuse(of: record, at: now, for: .none) == .fresh
        }
    }
}
