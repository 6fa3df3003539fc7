// SPDX-License-Identifier: Apache-2.0

/// An event of the disk tier for the operator, reported once each time that it begins.
package enum DiskEvent: Sendable, Equatable {
    /// The disk is full: the oldest entries are removed, and what does not fit is served and not stored.
    case full
    /// Nothing can be stored, for this reason.
    case failing(DiskCacheError)
    /// Storing works again.
    case working
    /// The index could not be used or was missing: it is rebuilt from the files, the old one set aside.
    case indexReplaced
    /// The folder was missing or replaced: the tier starts anew in what is there now.
    case folderReplaced

    /// Whether an operator has to do something.
    package var isAlarm: Bool { self != .working }
}

extension DiskEvent: CustomStringConvertible {
    /// One line for the log.
    package var description: String {
        switch self {
        case .full:
            "disk cache: the disk is full; the oldest entries are removed, what does not fit is served and not stored"
        case .failing(let error):
            "disk cache: can't store (\(error)); pictures are served from memory and the origin"
        case .working: "disk cache: stores again"
        case .indexReplaced: "disk cache: no index that can be used; it is being rebuilt from the files"
        case .folderReplaced: "disk cache: the folder was replaced; starting anew with the files in it"
        }
    }
}
