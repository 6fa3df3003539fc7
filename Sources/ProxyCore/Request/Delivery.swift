// SPDX-License-Identifier: Apache-2.0

/// What a request says beyond which bytes it wants: how they are looked for and kept, and how the answer is dressed.
///
/// No part of any key.
public struct Delivery: Sendable, Hashable {
    /// How the image is looked for and kept.
    public var options: ImageOptions = []
    /// Names under which the source and the result can be purged; each 1 to 64 of `[A-Za-z0-9_.:-]`.
    public var tags: [String] = []
    /// The name that a browser saves the image under; no path, no control characters.
    public var filename: String?
    /// Whether a browser is to save it rather than show it.
    public var isDownload = false
    /// The configured image that is served where the source fails.
    public var placeholder: String?
    /// When the URL stops to be valid, in seconds since 1970.
    public var expires: Int64?

    /// How soon its source is fetched, among those that wait for that; nil where nobody says.
    public var priority: FetchPriority?

    /// Most tags of one request.
    public static let maxTags = 16

    /// Whether `text` can be a tag.
    public static func isTag(_ text: String) -> Bool { DeliveryReading.isTag(text) }

    /// Nothing in particular.
    public init() {}
}
