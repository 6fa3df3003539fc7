// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ProxyCore

@Suite("Cache-Control")
struct CacheControlTests {
    @Test(
        "Directive names are parsed in any case, with blanks and empty members around them (RFC 9111 §5.2, RFC 9110 §5.6.1)"
    )
    func names() {
        let control = CacheControl([" ,, Max-Age=60 ,\tNO-STORE,,"])

        #expect(control.maxAge == 60)
        #expect(control.directives == .noStore)
    }

    @Test("Several field lines count together (RFC 9110 §5.3)")
    func lines() {
        let control = CacheControl(["public, max-age=60", "s-maxage=120"])

        #expect(control.isPublic)
        #expect(control.maxAge == 60)
        #expect(control.sharedMaxAge == 120)
    }

    @Test("A quoted number counts like a token (RFC 9111 §5.2)")
    func quoted() {
        #expect(CacheControl(["max-age=\"60\""]).maxAge == 60)
        #expect(CacheControl(["max-age=\"6\\0\""]).maxAge == 60)
    }

    @Test("A comma inside quotes separates nothing (RFC 9110 §5.6.4)")
    func comma() {
        let control = CacheControl(["ext=\"a, max-age=1, \\\", no-store\", max-age=60"])

        #expect(control.maxAge == 60)
        #expect(control.directives.isEmpty)
    }

    @Test(
        "An invalid lifetime is 0: stale at once (RFC 9111 §4.2.1)",
        arguments: [
            "max-age", "max-age=", "max-age=-1", "max-age=+1", "max-age=x", "max-age=1.5", "max-age= 60",
            "max-age=\"60", "max-age =60", "max-age 60", "max-age=60;x", "max-age='60'", "max-age=60a",
            "max-age=0x3C", "max-age:60",
        ])
    func malformed(value: String) {
        #expect(CacheControl([value]).maxAge == 0)
    }

    @Test(
        "A quote opens a string only right after an equals sign (RFC 9110 §5.6.4)",
        arguments: [
            #"x=5"a, private, max-age=9, y=3"b"#, #"a"b, private, max-age=9, c"d"#,
            #"x =" , private, max-age=9, y=" "#, #"x==", private, max-age=9, y=""#,
            #"x=a="b, private, max-age=9, y="c"#,
        ])
    func strayQuotes(text: String) {
        let control = CacheControl([text])

        #expect(control.directives.contains(.isPrivate))
        #expect(control.maxAge == 9)
    }

    @Test("Of two lifetimes the shorter counts (RFC 9111 §4.2.1)")
    func duplicates() {
        #expect(CacheControl(["max-age=60, max-age=30"]).maxAge == 30)
        #expect(CacheControl(["max-age=30", "max-age=60"]).maxAge == 30)
    }

    @Test("A number beyond 2^31 counts as 2^31 (RFC 9111 §1.2.2)")
    func large() {
        #expect(CacheControl(["max-age=99999999999999999999"]).maxAge == 1 << 31)
    }

    @Test("s-maxage forbids stale reuse as proxy-revalidate does (RFC 9111 §5.2.2.10)")
    func sharedMaxAge() {
        #expect(CacheControl(["s-maxage=1"]).directives == .proxyRevalidate)
        #expect(CacheControl(["proxy-revalidate"]).directives == .proxyRevalidate)
        #expect(CacheControl(["must-revalidate"]).directives == .mustRevalidate)
    }

    @Test(
        "private and no-cache with field names apply to those fields alone (RFC 9111 §5.2.2.4, §5.2.2.7)",
        arguments: [
            ("private=\"Set-Cookie, x\", no-cache=\"y\"", ["set-cookie", "x", "y"]),
            ("private=set-cookie", ["set-cookie"]),
            ("no-cache=\" ETag ,, Last-Modified\"", ["etag", "last-modified"]),
        ] as [(String, Set<String>)])
    func fieldNames(value: String, fields: Set<String>) {
        let control = CacheControl([value])

        #expect(control.directives.isEmpty)
        #expect(control.restrictedFields == fields)
    }

    @Test(
        "private and no-cache with invalid field names apply to the whole response",
        arguments: ["", "=\"\"", "=", "=\"a b\"", "=\"a=1\"", "=\"a, b", " x"])
    func senselessFieldNames(argument: String) {
        #expect(CacheControl(["private" + argument]).directives.contains(.isPrivate))
        #expect(CacheControl(["no-cache" + argument]).directives.contains(.noCache))
    }

    @Test(
        "A directive without an argument applies whatever follows its name",
        arguments: [
            ("no-store=1", .noStore), ("no-store;x", .noStore), ("no-store foo", .noStore),
            ("must-revalidate=x", .mustRevalidate), ("proxy-revalidate=\"\"", .proxyRevalidate),
            ("x=\"open, no-store", .noStore),
        ] as [(String, SourceRecord.Directives)])
    func argumentsThatAreNone(value: String, directive: SourceRecord.Directives) {
        #expect(CacheControl([value]).directives == directive)
    }

    @Test("public with an argument permits nothing")
    func publicWithArgument() {
        #expect(CacheControl(["public"]).isPublic)
        #expect(!CacheControl(["public=x"]).isPublic)
    }

    @Test(
        "The canonical text parses like the original",
        arguments: [
            "max-age=60", "no-store, private, no-cache", "s-maxage=\"7\", public, must-understand",
            "MUST-REVALIDATE, proxy-revalidate, immutable, stale-if-error=5, stale-while-revalidate=6",
            "max-age=x", "",
        ])
    func canonical(value: String) {
        #expect(CacheControl([CacheControl([value]).canonicalText]) == CacheControl([value]))
    }

    @Test("stale-while-revalidate and stale-if-error are parsed (RFC 5861), invalid ones count as absent")
    func stale() {
        let control = CacheControl(["stale-while-revalidate=10, stale-if-error=20"])

        #expect(control.staleWhileRevalidate == 10)
        #expect(control.staleIfError == 20)
        #expect(CacheControl(["stale-if-error=x"]).staleIfError == nil)
    }

    @Test("Only unknown directives and malformed members are dropped (RFC 9111 §5.2.3)")
    func unknown() {
        let control = CacheControl(["foo, bar=1, =2, ;max-age=5, immutable"])

        #expect(control.directives == .immutable)
        #expect(control.maxAge == nil)
    }
}
