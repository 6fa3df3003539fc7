// SPDX-License-Identifier: Apache-2.0

import CLinux

/// Counts the names that are being looked up: each takes descriptors that only the resolver sees. Confined to the loader's thread.
final class NameLookUps {
    private var underWay = 0

    /// Most descriptors that one takes: libcurl's own pair, and two of the C library's.
    private static let descriptorsEach = 4

    /// Counts one in; false when more would take what other libraries need, whatever is free below.
    func begin() -> Bool {
        guard underWay < Self.most(of: linux_descriptor_limit()) else { return false }
        underWay += 1
        return true
    }

    /// Counts one out.
    func end() { underWay -= 1 }

    /// How many may be under way where so many descriptors may be open: those that are kept for libraries, less the share of
    /// the others.
    static func most(of descriptors: UInt64) -> Int {
        let kept = Int(linux_kept_descriptors(descriptors)) - Int(LINUX_FEWEST_KEPT)
        return max(descriptorsEach, kept) / descriptorsEach
    }
}
