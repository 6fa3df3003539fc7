// SPDX-License-Identifier: Apache-2.0

import Bodies

/// The bytes of the source that a failure is about.
///
/// Not part of what a failure is: two are always equal.
struct FailedContent: Sendable, Hashable {
    /// Their hash; nil where no bytes are at fault.
    let hash: ContentHash?

    /// Always true.
    static func == (left: FailedContent, right: FailedContent) -> Bool { true }

    /// Adds nothing.
    func hash(into hasher: inout Hasher) {}
}

extension PipelineError {
    /// Whether it says something of a source with these bytes: not where it is of others.
    /// - Parameter bytes: nil where they are not known.
    func concerns(_ bytes: ContentHash?) -> Bool {
        guard let bytes, let failed = content.hash else { return true }
        return bytes == failed
    }
}
