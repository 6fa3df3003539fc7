// SPDX-License-Identifier: Apache-2.0

package import Freshness
package import Imaging
package import Origins
package import URLs

/// The requests that clients may send.
package struct RequestPolicy: Sendable {
    /// The allowed sources.
    package var sources: SourcePolicy
    /// The buckets that sources may name.
    package var buckets = Buckets.none
    /// The rules for sources.
    package var origins = OriginRules.none
    /// The requests that need a signature.
    package var signatures = SignaturePolicy.none
    /// Privileged options that need no signature.
    package var allowedOptions: ImageOptions = []
    /// Whether a request may raise its priority without a signature.
    package var allowsHighPriority = false
    /// Whether a request may carry tags without a signature.
    package var allowsUnsignedTags = false
    /// Whether a request may bring the picture itself without a signature.
    package var allowsUploads = false
    /// Whether only presets may define transforms.
    package var onlyPresets = false
    /// The presets by name.
    package var presets: [String: Preset] = [:]
    /// The names of the images that can replace a failed source.
    package var placeholders: Set<String> = []
    /// The images for watermarks, by name.
    package var watermarks: [String: WatermarkImage] = [:]

    /// Allows all clients these sources, without privileged options.
    package init(sources: SourcePolicy) {
        self.sources = sources
    }
}
