// SPDX-License-Identifier: Apache-2.0

internal import ProxyCore

/// What of a request's fields took part in choosing the answer for a target.
struct AliasVariant: Hashable, Sendable {
    /// What `Accept` lets us choose; nil where the format is not negotiated.
    var acceptClass: AcceptClass?
    /// Whether `Sec-CH-DPR` counts.
    var isHinted = false
    /// The device pixel ratio, where it counts and was given.
    var dpr: Double?

    /// Whether the target alone decides.
    var isAlone: Bool { acceptClass == nil && !isHinted }

    /// Hot path: whether a request with this `Accept` gets the same answer, where that counts at all.
    func fits(accept: AcceptClass) -> Bool { acceptClass == nil || acceptClass == accept }
}
