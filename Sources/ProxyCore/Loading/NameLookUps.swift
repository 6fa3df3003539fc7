// SPDX-License-Identifier: Apache-2.0

import CLinux

/// Counts running name look-ups: each uses descriptors that only the resolver knows. Confined to the loader's
/// thread.
final class NameLookUps {
    private var underWay = 0

    /// The maximum number of descriptors of one look-up: libcurl's own pair, and two of the C library.
    private static let descriptorsEach = 4

    /// Counts a new look-up; false if it could use descriptors that other libraries need, even if lower ones
    /// are free.
    func begin() -> Bool {
        guard underWay < Self.most(of: linux_descriptor_limit()) else { return false }
        underWay += 1
        return true
    }

    /// Counts a finished look-up.
    func end() { underWay -= 1 }

    /// The maximum number of concurrent look-ups for a number of descriptors that may be open: the
    /// descriptors reserved for libraries, less the share of other libraries.
    static func most(of descriptors: UInt64) -> Int {
        let kept = Int(linux_kept_descriptors(descriptors)) - Int(LINUX_FEWEST_KEPT)
        return max(descriptorsEach, kept) / descriptorsEach
    }
}
