// SPDX-License-Identifier: Apache-2.0

import Bodies
import Imaging

/// A fetched body, the place that it outgrew its buffer into, and its format.
struct ReceivedOriginal: Sendable {
    var content: PartialBody.Content
    var place: SpillTarget
    var format: ImageFormat
}
