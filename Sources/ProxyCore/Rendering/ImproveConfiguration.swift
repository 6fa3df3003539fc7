// SPDX-License-Identifier: Apache-2.0

/// Results in AVIF and JPEG XL are made with the fast effort, and once more with the full one when they are asked for again
/// and workers have nothing else to do. Configuration: `transform.improve`.
public struct ImproveConfiguration: Sendable, Hashable, Codable {
    /// Whether that is done. Default true. Otherwise results stay as they were made first.
    public var enabled: Bool = true
    /// Results that may wait for it, with at most 4 MiB of URLs and plans altogether; clients take turns, and one with many
    /// gives places up to others. Default 256; beyond it a result waits until it is asked for again.
    public var queue: Int = 256
    /// How long clients and caches may keep a result that will be replaced, counted from when it was made, and where the
    /// source's own lifetime is not shorter. Default 60s.
    public var maxAge: TimeSpan = .seconds(60)

    /// The defaults.
    public init() {}
}
