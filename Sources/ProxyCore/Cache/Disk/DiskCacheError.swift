// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Why the disk tier failed: the closed list.
///
/// None of them causes a wrong answer; a failed store is a miss later on. Texts are for the log, never for a
/// client.
package enum DiskCacheError: Error, Sendable, Equatable {
    /// No space, inodes or quota are left.
    case full
    /// Reading it would block; only calls that read from memory alone throw it.
    case wouldBlock
    /// Too many operations wait for the disk already, or too many files are open; a 503 with Retry-After if a
    /// look-up fails with it.
    case overloaded
    /// Another daemon holds the folder.
    case locked(String)
    /// The folder's file system lacks a feature that the tier requires.
    case unsupported(String)
    /// A read-only folder can't be opened, and why.
    case readOnlyFolder(String, because: String)
    /// The entry to store had been purged meanwhile.
    case purged
    /// The entry to store would evict all others, and not stay itself.
    case tooLarge
    /// The tier has been closed.
    case closed
    /// The arguments contradict each other.
    case invalid(String)
    /// A system call failed.
    case system(call: String, code: Int32)
    /// The index failed.
    case index(String)
    /// The index is damaged.
    case brokenIndex(String)
}

extension DiskCacheError: CustomStringConvertible {
    /// One sentence for the log.
    package var description: String {
        switch self {
        case .full: "the disk is full"
        case .wouldBlock: "not in memory"
        case .overloaded: "too much waits for the disk"
        case .locked(let folder):
            "another daemon holds the cache folder \(folder); a second one needs a folder of its own"
        case .unsupported(let what): "the cache folder's file system does not support \(what)"
        case .readOnlyFolder(let folder, let reason): "\(folder) can't be read: \(reason)"
        case .purged: "purged meanwhile"
        case .tooLarge: "larger than what the disk tier is swept down to"
        case .closed: "the disk tier is closed"
        case .invalid(let what): what
        case .system(let call, let code):
            // Safe because strerror(3) returns a string for every number.
            unsafe "\(call): \(String(cString: strerror(code)))"
        case .index(let text): "the index failed: \(text)"
        case .brokenIndex(let text): "the index is damaged: \(text)"
        }
    }
}

extension DiskCacheError {
    /// Converts errno as a call left it.
    init(_ call: String, code: Int32) {
        switch code {
        case ENOSPC, EDQUOT: self = .full
        // No descriptor is left: too much is in progress, and the file is not at fault.
        case EMFILE, ENFILE: self = .overloaded
        default: self = .system(call: call, code: code)
        }
    }

    /// Whether a new index made from the files would repair it.
    var isIndexUnusable: Bool {
        switch self {
        case .index, .brokenIndex: true
        default: false
        }
    }

    /// Whether only one file or folder may be at fault, and the next one is sound: another user's, immutable,
    /// or on a bad block.
    var concernsOneFile: Bool {
        guard case .system(_, let code) = self else { return false }
        return [EACCES, EPERM, EIO, EUCLEAN].contains(code)
    }
}
