// SPDX-License-Identifier: Apache-2.0

import Glibc

extension DiskCacheError {
    /// Translates errno as a call left it.
    init(_ call: String, code: Int32) {
        switch code {
        case ENOSPC, EDQUOT: self = .full
        default: self = .system(call: call, code: code)
        }
    }
}
