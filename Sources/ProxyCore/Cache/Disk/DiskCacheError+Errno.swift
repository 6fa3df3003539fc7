// SPDX-License-Identifier: Apache-2.0

import Glibc

extension DiskCacheError {
    /// Translates errno as a call left it.
    init(_ call: String, code: Int32) {
        switch code {
        case ENOSPC, EDQUOT: self = .full
        // No descriptor is left: too much is under way, and no file is to blame.
        case EMFILE, ENFILE: self = .overloaded
        default: self = .system(call: call, code: code)
        }
    }

    /// Whether it may well be the fault of one file or folder, and the next one is sound: somebody else's, immutable, or
    /// on a bad block.
    var isOfOneFile: Bool {
        guard case .system(_, let code) = self else { return false }
        return [EACCES, EPERM, EIO, EUCLEAN].contains(code)
    }
}
