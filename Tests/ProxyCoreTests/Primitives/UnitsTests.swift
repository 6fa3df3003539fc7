// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("Sizes and durations in configuration")
struct UnitsTests {
    @Test(
        "a size is digits with an optional unit",
        arguments: [
            ("0", 0), ("1048576", 1_048_576), ("256MiB", 268_435_456), ("10GB", 10_000_000_000), ("3B", 3),
            ("2kB", 2_000), ("1TiB", 1 << 40),
        ])
    func sizes(text: String, bytes: Int) {
        #expect(ByteCount(text)?.bytes == bytes)
    }

    @Test("other texts are no size", arguments: ["", "MiB", "-1", "1.5GB", "1 MiB", "1mib", "99999999TiB"])
    func wrongSizes(text: String) {
        #expect(ByteCount(text) == nil)
    }

    @Test("a size is written in a parsable form", arguments: [0, 1, 1_000, 1_024, 10 << 30, 1_048_577])
    func sizeRoundTrip(bytes: Int) {
        #expect(ByteCount(ByteCount(bytes).description)?.bytes == bytes)
    }

    @Test(
        "a duration is digits with an optional unit",
        arguments: [
            ("15", 15_000), ("15s", 15_000), ("250ms", 250), ("7d", 604_800_000), ("2m", 120_000),
            ("1h", 3_600_000),
        ])
    func durations(text: String, milliseconds: Int) {
        #expect(TimeSpan(text)?.milliseconds == milliseconds)
    }

    @Test(
        "other texts are no duration", arguments: ["", "s", "-1s", "1.5s", "1 s", "1S", "9999999999999999d"])
    func wrongDurations(text: String) {
        #expect(TimeSpan(text) == nil)
    }

    @Test("a duration is written in a parsable form", arguments: [0, 1, 999, 1_000, 90_000, 86_400_000])
    func durationRoundTrip(milliseconds: Int) {
        #expect(TimeSpan(TimeSpan(milliseconds: milliseconds).description)?.milliseconds == milliseconds)
    }
}
