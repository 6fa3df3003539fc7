// SPDX-License-Identifier: Apache-2.0

import Imaging
import Request

/// The same job with a difference.
extension ImageJob {
    /// The same for a source that must not go out as it is.
    var rasterized: ImageJob { made(by: pipeline.configuration.rasterPlan) }

    /// The same by another plan, or by none.
    func made(by plan: RenderPlan?) -> ImageJob {
        var job = withoutStream
        job.request = request.made(by: plan)
        job.token = token.extended(to: job.request.resultKey)
        return job
    }

    /// The same where no byte goes out before all are there.
    var withoutStream: ImageJob {
        var job = self
        job.stream = nil
        return job
    }
}
