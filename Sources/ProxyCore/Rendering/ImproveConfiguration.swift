// SPDX-License-Identifier: Apache-2.0

/// Results in AVIF and JPEG XL are made with the fast effort, and once more with full effort when they are
/// requested again and workers have nothing else to do. Configuration: `transform.improve`.
public struct ImproveConfiguration: Sendable, Hashable, Codable {
    /// Whether results are improved. Default true. Otherwise they stay as they were made first.
    public var enabled: Bool = true
    /// Results that may wait for it, with at most 4 MiB of URLs and plans altogether; clients take turns, and
    /// a client with many loses its own to others. Default 256; beyond it a result waits until it is
    /// requested again.
    public var queue: Int = 256
    /// How long clients and caches may store a result that will be replaced, counted from when it was made,
    /// unless the source's own lifetime is shorter. Default 60s.
    public var maxAge: TimeSpan = .seconds(60)

    /// Creates the defaults.
    public init() {}
}
