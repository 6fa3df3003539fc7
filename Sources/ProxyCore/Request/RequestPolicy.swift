// SPDX-License-Identifier: Apache-2.0

/// What clients may ask for.
public struct RequestPolicy: Sendable {
    /// Sources that may be named.
    public var sources: SourcePolicy
    /// How sources are treated.
    public var origins = OriginRules.none
    /// Who must sign.
    public var signatures = SignaturePolicy.none
    /// Privileged options that need no signature.
    public var allowedOptions: ImageOptions = []
    /// Whether a request may go before others without a signature.
    public var allowsHighPriority = false
    /// Whether a request needs no signature to carry tags.
    public var allowsUnsignedTags = false
    /// Whether an image is shaped by presets alone.
    public var onlyPresets = false
    /// Named bundles of parameters.
    public var presets: [String: Preset] = [:]
    /// Names of the images that may stand in for a failed source.
    public var placeholders: Set<String> = []
    /// Images that may be laid over others, by name.
    public var watermarks: [String: WatermarkImage] = [:]

    /// Whoever asks gets any of these sources, without options that skip a cache.
    public init(sources: SourcePolicy) {
        self.sources = sources
    }
}
