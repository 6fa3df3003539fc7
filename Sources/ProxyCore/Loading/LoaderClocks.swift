// SPDX-License-Identifier: Apache-2.0

package import Primitives

/// The clocks by which the age of a response is computed (RFC 9111 §4.2.3), and by which fetches take too
/// long. Called on the loader's thread.
package struct LoaderClocks: Sendable {
    let wall: @Sendable () -> WallTime
    /// Returns the time of a clock that is never set, by which the response delay is measured and deadlines pass.
    let monotonic: @Sendable () -> ContinuousClock.Instant

    /// Combines the clocks; those of the system by default.
    package init(
        wall: @escaping @Sendable () -> WallTime = SystemTime.now,
        monotonic: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.wall, self.monotonic) = (wall, monotonic)
    }

    /// The time that has passed since the request was sent (response_delay), in whole milliseconds.
    func delay(since request: ContinuousClock.Instant) -> TimeSpan {
        .milliseconds(Int((monotonic() - request) / .milliseconds(1)))
    }
}
