// SPDX-License-Identifier: Apache-2.0

import Primitives

/// Times as AWS' services write them.
package enum AWSTime {
    /// Seconds since 1970 of a time such as `2026-01-31T23:59:59Z`, with or without a fraction.
    package static func seconds(of text: String) -> Int64? {
        guard
            let match = text.wholeMatch(
                of:
                    /([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:Z|\+00:00)/
            )
        else { return nil }
        let parts = [
            match.output.1, match.output.2, match.output.3, match.output.4, match.output.5, match.output.6,
        ].compactMap { Int($0) }
        return CalendarTime(
            year: parts[0], month: parts[1], day: parts[2], hour: parts[3], minute: parts[4],
            second: parts[5])?.seconds
    }
}
