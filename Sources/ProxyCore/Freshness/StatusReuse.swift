// SPDX-License-Identifier: Apache-2.0

/// The effect of a status on its response's reuse (RFC 9110 §15).
enum StatusReuse {
    /// Whether it is one whose requirements on caching are known and met, for `must-understand` (RFC 9111 §5.2.2.3).
    static func isUnderstood(_ status: Int) -> Bool {
        switch status {
        case 200...205, 300...304, 307, 308, 400...417, 421, 422, 426, 451, 500...505: true
        default: false
        }
    }

    /// Whether a default lifetime is allowed for it (RFC 9110 §15.1, RFC 7725 §3), also after a 304 has
    /// confirmed it.
    static func isHeuristic(_ status: Int) -> Bool {
        [200, 203, 204, 206, 300, 301, 304, 308, 404, 405, 410, 414, 451, 501].contains(status)
    }
}
