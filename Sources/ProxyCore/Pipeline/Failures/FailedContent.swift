// SPDX-License-Identifier: Apache-2.0

import Bodies
import Primitives

/// The bytes of the source that a failure is about.
struct FailedContent: Sendable, NotCompared {
    /// Their hash; nil where no bytes are at fault.
    let hash: ContentHash?
}

extension PipelineError {
    /// Whether it says something of a source with these bytes: not where it is of others.
    /// - Parameter bytes: nil where they are not known.
    func concerns(_ bytes: ContentHash?) -> Bool {
        guard let bytes, let failed = content.hash else { return true }
        return bytes == failed
    }
}
