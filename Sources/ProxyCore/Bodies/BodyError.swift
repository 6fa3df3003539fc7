// SPDX-License-Identifier: Apache-2.0

/// Why a body lacks bytes.
package enum BodyError: Error, Sendable, Hashable {
    /// Bytes could not be stored or read back, for example on a full disk. Text for the log only.
    case storage(String)
    /// Too many files are open.
    case tooManyFiles
    /// The writer ended the body before its last byte.
    case incomplete
}
