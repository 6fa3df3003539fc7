// SPDX-License-Identifier: Apache-2.0

/// Why an entry was removed from a tier.
package enum EvictionReason: String, Sendable, Hashable, CaseIterable {
    /// Older than the tier keeps entries.
    case age
    /// The tier was over its bound in bytes.
    case size
    /// The tier was over its bound in entries.
    case count
    /// Another entry of the same key replaced it.
    case replaced
    /// A purge removed it.
    case purged
    /// The tier's bound was lowered, as under memory pressure.
    case pressure
    /// Its bytes are not those that were stored.
    case corrupt
    /// Its file was removed by another program.
    case missing
}
