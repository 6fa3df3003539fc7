// SPDX-License-Identifier: Apache-2.0

/// Results in AVIF and JPEG XL are made with the fast effort, and once more with full effort when they are
/// requested again and workers have nothing else to do. Configuration: `transform.improve`.
package struct ImproveConfiguration: Sendable, Hashable, Codable {
    /// Whether results in AVIF and JPEG XL, which are made with the fast effort first, are made again with the full effort
    /// when they are requested again and workers are idle. Default true.
    package var enabled: Bool = true
    /// The maximum number of results that wait to be made again, with at most 4 MiB of URLs and plans altogether; clients
    /// take turns, and one with many gives places up to others. Default 256; beyond it a result waits for its next request.
    package var queue: Int = 256
    /// The maximum `max-age` of a result that will be made again, counted from when it was made. Default 60s.
    package var maxAge: TimeSpan = .seconds(60)

    /// Creates the defaults.
    package init() {}
}
