// SPDX-License-Identifier: Apache-2.0

/// What an operator should hear of the disk tier, once each time it comes to be so.
public enum DiskNotice: Sendable, Equatable {
    /// Nothing more fits on the disk: the oldest entries make room, and what does not fit is served and not kept.
    case full
    /// Nothing can be stored, for this reason.
    case failing(DiskCacheError)
    /// What could not be stored can be again.
    case working
    /// The index could not be used or was not there: it is made anew from the files, the old one set aside.
    case indexReplaced
    /// The folder was gone or another one: the tier began anew in what is there now.
    case folderReplaced

    /// Whether somebody has to do something.
    public var isAlarm: Bool {
        switch self {
        case .full, .failing, .folderReplaced, .indexReplaced: true
        case .working: false
        }
    }
}

extension DiskNotice: CustomStringConvertible {
    /// One line for the log.
    public var description: String {
        switch self {
        case .full:
            "disk cache: the disk is full; the oldest entries make room, what does not fit is served and not kept"
        case .failing(let error):
            "disk cache: can't store (\(error)); pictures are served from memory and the origin"
        case .working: "disk cache: stores again"
        case .indexReplaced: "disk cache: no index that can be used; it is being made anew from the files"
        case .folderReplaced: "disk cache: the folder was replaced; beginning anew with what is there"
        }
    }
}
