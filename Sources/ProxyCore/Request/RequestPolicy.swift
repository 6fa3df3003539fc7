// SPDX-License-Identifier: Apache-2.0

/// The requests that clients may send.
public struct RequestPolicy: Sendable {
    /// The allowed sources.
    public var sources: SourcePolicy
    /// The rules for sources.
    public var origins = OriginRules.none
    /// The requests that need a signature.
    public var signatures = SignaturePolicy.none
    /// Privileged options that need no signature.
    public var allowedOptions: ImageOptions = []
    /// Whether a request may raise its priority without a signature.
    public var allowsHighPriority = false
    /// Whether a request may carry tags without a signature.
    public var allowsUnsignedTags = false
    /// Whether only presets may define transforms.
    public var onlyPresets = false
    /// The presets by name.
    public var presets: [String: Preset] = [:]
    /// The names of the images that can replace a failed source.
    public var placeholders: Set<String> = []
    /// The images for watermarks, by name.
    public var watermarks: [String: WatermarkImage] = [:]

    /// Allows all clients these sources, without privileged options.
    public init(sources: SourcePolicy) {
        self.sources = sources
    }
}
