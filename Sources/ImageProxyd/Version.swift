// SPDX-License-Identifier: Apache-2.0

/// The release.
enum Version {
    /// The version, by semantic versioning; also the label of `imageproxyd_build_info`.
    static let current = "0.1.0"
}
