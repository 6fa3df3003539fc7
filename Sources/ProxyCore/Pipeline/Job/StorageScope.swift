// SPDX-License-Identifier: Apache-2.0

import Freshness

/// Where what is fetched or made may be stored; the configuration and the origin may restrict that further.
enum StorageScope: Hashable, Sendable {
    /// Nowhere.
    case nothing
    case memory
    /// On disk, too.
    case disk
    /// On disk, and answered once it would survive a loss of power.
    case durable

    /// Whether it may be written to disk.
    var usesDisk: Bool { self == .disk || self == .durable }
}

extension RequestDirectives {
    /// Where what is fetched or made for this client may be stored.
    var scope: StorageScope {
        if noStore { return .nothing }
        if memoryOnly { return .memory }
        return waitsForStore ? .durable : .disk
    }
}
