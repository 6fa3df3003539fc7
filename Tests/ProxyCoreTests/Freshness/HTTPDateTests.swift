// SPDX-License-Identifier: Apache-2.0

import ProxyCore
import Testing

@Suite("HTTP dates")
struct HTTPDateTests {
    /// 21 November 2026.
    private let now: Int64 = 1_795_219_200

    @Test(
        "A date is parsed in all three formats (RFC 9110 §5.6.7)",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ])
    func reads(text: String) {
        #expect(HTTPDate(text, now: now)?.seconds == 784_111_777)
    }

    @Test(
        "A cache parses a date in either case (RFC 9111 §4.2)",
        arguments: [
            "SUN, 06 nov 1994 08:49:37 gMT", "sunday, 06-NOV-94 08:49:37 gmt", "SuN nOV  6 08:49:37 1994",
        ])
    func readsAnyCase(text: String) {
        #expect(HTTPDate(text, now: now)?.seconds == 784_111_777)
    }

    @Test(
        "An invalid date is refused",
        arguments: [
            "", "0", "-1", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 29 Feb 2100 00:00:00 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT ",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "1994-11-06T08:49:37Z",
        ])
    func refuses(text: String) {
        #expect(HTTPDate(text, now: now) == nil)
    }

    @Test("A two-digit year more than 50 years ahead is in the past (RFC 9110 §5.6.7)")
    func century() {
        #expect(
            HTTPDate("Friday, 01-Jan-76 00:00:00 GMT", now: now)?.description
                == "Wed, 01 Jan 2076 00:00:00 GMT")
        #expect(
            HTTPDate("Friday, 01-Jan-77 00:00:00 GMT", now: now)?.description
                == "Sat, 01 Jan 1977 00:00:00 GMT")
    }

    @Test("A leap second is the next second")
    func leapSecond() {
        #expect(HTTPDate("Sat, 31 Dec 2016 23:59:60 GMT", now: now)?.seconds == 1_483_228_800)
    }

    @Test(
        "A date is written as IMF-fixdate (RFC 9110 §5.6.7)",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_795_219_200, "Sat, 21 Nov 2026 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (.max, "Fri, 31 Dec 9999 23:59:59 GMT"), (.min, "Sat, 01 Jan 0000 00:00:00 GMT"),
        ] as [(Int64, String)])
    func writes(seconds: Int64, text: String) {
        #expect(HTTPDate(seconds: seconds).description == text)
        #expect(text.utf8.count == HTTPDate.formattedCount)
    }

    @Test("A date that is written and parsed again is equal, all over the calendar")
    func roundTrip() {
        for seconds in stride(from: Int64(-62_167_219_200), to: 253_402_300_799, by: 86_400 * 97 + 12_345) {
            let date = HTTPDate(seconds: seconds)
            #expect(HTTPDate(date.description, now: now) == date)
        }
    }
}
