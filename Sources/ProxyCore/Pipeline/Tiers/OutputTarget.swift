// SPDX-License-Identifier: Apache-2.0

import Bodies
import Cache

/// Where a body is written: a staged file of the disk tier, or anonymous memory that vanishes with its last user.
struct OutputTarget: Sendable {
    let file: OwnedDescriptor
    let offset: Int64
    /// Present when the disk tier may store it.
    let staged: StagedEntry?

    var place: FilePlace { FilePlace(file: file, offset: offset) }
}
