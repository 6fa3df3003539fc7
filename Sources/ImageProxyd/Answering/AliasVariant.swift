// SPDX-License-Identifier: Apache-2.0

import Request

/// The request fields that took part in choosing the answer for a target.
struct AliasVariant: Hashable, Sendable {
    /// The formats that `Accept` permits; nil if the format is not negotiated.
    var acceptClass: AcceptClass?
    /// Whether `Sec-CH-DPR` counts.
    var isHinted = false
    /// The device pixel ratio, if it counts and was sent.
    var dpr: Double?

    /// Whether the target alone decides.
    var dependsOnNoField: Bool { acceptClass == nil && !isHinted }

    /// Hot path: whether a request with this `Accept` gets the same answer, if that counts at all.
    func fits(accept: AcceptClass) -> Bool { acceptClass == nil || acceptClass == accept }
}
