// SPDX-License-Identifier: Apache-2.0

/// A time of the wall clock, in milliseconds since 1970.
///
/// Ages are differences of such times, rounded down once, at the end. A difference of times that were rounded before is a
/// second too long where a second ends between them.
package struct WallTime: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970.
    package let milliseconds: Int64

    /// Wraps `milliseconds`.
    package init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Creates the begin of a second; seconds beyond ±2⁴⁴ (half a million years) are pinned, so that no difference overflows.
    package init(seconds: Int64) { milliseconds = min(max(seconds, -(1 << 44)), 1 << 44) * 1_000 }

    /// Whole seconds since 1970, rounded down.
    package var seconds: Int64 {
        milliseconds / 1_000 - (milliseconds % 1_000 < 0 ? 1 : 0)
    }

    /// Hot path: the time that has passed since `earlier`; zero if that is later.
    ///
    /// It is later where the clock was set back, and by a few milliseconds where it is an exact time and this one a coarse
    /// clock's.
    package func elapsed(since earlier: WallTime) -> TimeSpan {
        TimeSpan(milliseconds: Int(milliseconds - earlier.milliseconds))
    }

    /// Returns the time that was `span` earlier.
    package static func - (time: WallTime, span: TimeSpan) -> WallTime {
        WallTime(milliseconds: time.milliseconds - Int64(span.milliseconds))
    }

    /// Compares by time.
    package static func < (left: WallTime, right: WallTime) -> Bool { left.milliseconds < right.milliseconds }
}
