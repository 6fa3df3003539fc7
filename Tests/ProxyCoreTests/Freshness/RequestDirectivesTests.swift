// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("Cache-Control in requests")
struct RequestDirectivesTests {
    @Test("Request directives are parsed as RFC 9111 §5.2.1 lists them, in any case and over several lines")
    func reads() {
        let client = directives(
            "No-Cache, MAX-AGE=\"5\"", "min-fresh=6, max-stale=7, only-if-cached, no-store, x")

        #expect(client.noCache && client.noStore && client.onlyIfCached)
        #expect(client.maxAge == 5)
        #expect(client.minFresh == 6)
        #expect(client.maxStale == 7)
    }

    @Test("max-stale without a number allows any staleness (RFC 9111 §5.2.1.2)")
    func anyStaleness() {
        #expect(directives("max-stale").maxStale == CacheControl.mostSeconds)
        #expect(directives("max-stale, max-stale=5").maxStale == 5)
    }

    @Test("An invalid number counts as the strictest, an invalid max-stale as absent")
    func senseless() {
        #expect(directives("max-age").maxAge == 0)
        #expect(directives("max-age=-1").maxAge == 0)
        #expect(directives("min-fresh=x").minFresh == CacheControl.mostSeconds)
        #expect(directives("max-stale=x").maxStale == nil)
    }

    @Test("Pragma: no-cache counts only in the absence of Cache-Control (RFC 9111 §5.4)")
    func pragma() {
        #expect(RequestDirectives(cacheControl: [], pragma: ["No-Cache"]).noCache)
        #expect(!RequestDirectives(cacheControl: ["max-age=9"], pragma: ["no-cache"]).noCache)
        #expect(RequestDirectives(cacheControl: [], pragma: []) == .none)
    }

    private func directives(_ lines: String...) -> RequestDirectives {
        RequestDirectives(cacheControl: lines, pragma: [])
    }
}
