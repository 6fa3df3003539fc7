// SPDX-License-Identifier: Apache-2.0

/// The folder of the disk tier: as configured, else systemd's, else in the user's cache folder (XDG base
/// directories).
enum CacheDirectory {
    static func path(
        configured: String, environment: [String: String] = HostProcess.environment
    ) -> String {
        if !configured.isEmpty { return configured }
        // systemd may name several folders, separated by colons; the daemon uses the first.
        if let folder = environment["CACHE_DIRECTORY"]?.split(separator: ":").first { return String(folder) }
        if let cache = environment["XDG_CACHE_HOME"], cache.hasPrefix("/") { return "\(cache)/imageproxyd" }
        return "\(environment["HOME"] ?? "/var/cache")/.cache/imageproxyd"
    }
}
