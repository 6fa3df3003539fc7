// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import HTTPServer

@Suite("Conditional requests (RFC 9110 §13)")
struct PreconditionTests {
    /// Dates are plain numbers here; their format is the caller's concern.
    private func date(_ text: UnsafeRawBufferPointer) -> Int64? {
        Int64(String(decoding: text, as: UTF8.self))
    }

    /// For a representation with the tag `"a"` that was last modified at 100.
    private func evaluate(
        _ lines: String, method: String = "GET", tag: String? = "\"a\"", modified: Int64? = 100
    ) -> Precondition {
        let request = HeadReading(head(lines, method: method)).request
        return Precondition.evaluate(
            request, etag: tag.flatMap { EntityTag($0.utf8) }, lastModified: modified, date: date)
    }

    @Test("Without conditions a request proceeds")
    func unconditional() {
        #expect(evaluate("") == .proceed)
    }

    @Test(
        "If-None-Match with the tag of the representation is 304, compared weakly (RFC 9110 §13.1.2)",
        arguments: [
            ("If-None-Match: \"a\"\r\n", Precondition.notModified),
            ("If-None-Match: W/\"a\"\r\n", .notModified),
            ("If-None-Match: *\r\n", .notModified), ("If-None-Match: \"b\", \"a\"\r\n", .notModified),
            ("If-None-Match: \"b\"\r\nIf-None-Match: \"a\"\r\n", .notModified),
            ("If-None-Match: \"b\"\r\n", .proceed),
            ("If-None-Match: a\r\n", .proceed), ("If-None-Match:\r\n", .proceed),
            ("if-none-match: \"a\"\r\n", .notModified),
        ])
    func ifNoneMatch(lines: String, outcome: Precondition) {
        #expect(evaluate(lines) == outcome)
        #expect(evaluate(lines, method: "HEAD") == outcome)
        #expect(evaluate(lines, method: "DELETE") == (outcome == .proceed ? .proceed : .preconditionFailed))
    }

    @Test("If-None-Match disables If-Modified-Since, whatever its result (RFC 9110 §13.1.3)")
    func tagBeforeDate() {
        #expect(evaluate("If-None-Match: \"b\"\r\nIf-Modified-Since: 100\r\n") == .proceed)
        #expect(evaluate("If-None-Match: junk\r\nIf-Modified-Since: 100\r\n") == .proceed)
        #expect(evaluate("If-Modified-Since: 99\r\nIf-None-Match: \"a\"\r\n") == .notModified)
    }

    @Test("If-Modified-Since at or after the last modification is 304 (RFC 9110 §13.1.3)")
    func ifModifiedSince() {
        #expect(evaluate("If-Modified-Since: 100\r\n") == .notModified)
        #expect(evaluate("If-Modified-Since: 101\r\n", method: "HEAD") == .notModified)
        #expect(evaluate("If-Modified-Since: 99\r\n") == .proceed)
    }

    @Test(
        "If-Modified-Since is ignored without a date, on two lines, and for other methods (RFC 9110 §13.1.3)")
    func ignoredIfModifiedSince() {
        #expect(evaluate("If-Modified-Since: yesterday\r\n") == .proceed)
        #expect(evaluate("If-Modified-Since: 100\r\nIf-Modified-Since: 100\r\n") == .proceed)
        #expect(evaluate("If-Modified-Since: 100\r\n", method: "POST") == .proceed)
        #expect(evaluate("If-Modified-Since: 100\r\n", modified: nil) == .proceed)
    }

    @Test(
        "If-Match without the tag of the representation is 412, compared strongly (RFC 9110 §13.1.1)",
        arguments: [
            ("If-Match: \"a\"\r\n", Precondition.proceed), ("If-Match: *\r\n", .proceed),
            ("If-Match: \"b\", \"a\"\r\n", .proceed), ("If-Match: \"b\"\r\n", .preconditionFailed),
            ("If-Match: W/\"a\"\r\n", .preconditionFailed), ("If-Match: junk\r\n", .preconditionFailed),
            ("If-Match: \"b\"\r\nIf-Match: \"a\"\r\n", .proceed),
        ])
    func ifMatch(lines: String, outcome: Precondition) {
        for method in ["GET", "HEAD", "DELETE"] { #expect(evaluate(lines, method: method) == outcome) }
    }

    @Test("A weak tag never satisfies If-Match, but it satisfies If-None-Match (RFC 9110 §8.8.3.2)")
    func weakTag() {
        #expect(evaluate("If-Match: W/\"a\"\r\n", tag: "W/\"a\"") == .preconditionFailed)
        #expect(evaluate("If-Match: \"a\"\r\n", tag: "W/\"a\"") == .preconditionFailed)
        #expect(evaluate("If-None-Match: \"a\"\r\n", tag: "W/\"a\"") == .notModified)
    }

    @Test("Without a tag only * matches the representation (RFC 9110 §13.1.1, §13.1.2)")
    func noTag() {
        #expect(evaluate("If-Match: \"a\"\r\n", tag: nil) == .preconditionFailed)
        #expect(evaluate("If-Match: *\r\n", tag: nil) == .proceed)
        #expect(evaluate("If-None-Match: \"a\"\r\n", tag: nil) == .proceed)
        #expect(evaluate("If-None-Match: *\r\n", tag: nil) == .notModified)
    }

    @Test("If-Unmodified-Since before the last modification is 412 (RFC 9110 §13.1.4)")
    func ifUnmodifiedSince() {
        #expect(evaluate("If-Unmodified-Since: 99\r\n") == .preconditionFailed)
        #expect(evaluate("If-Unmodified-Since: 100\r\n") == .proceed)
        #expect(evaluate("If-Unmodified-Since: soon\r\n") == .proceed)
        #expect(evaluate("If-Unmodified-Since: 99\r\n", modified: nil) == .proceed)
        #expect(evaluate("If-Unmodified-Since: 99\r\nIf-Unmodified-Since: 99\r\n") == .proceed)
    }

    @Test(
        "Conditions are evaluated in order: If-Match alone decides on 412, then the others follow (RFC 9110 §13.2.2)"
    )
    func order() {
        #expect(evaluate("If-Unmodified-Since: 99\r\nIf-Match: \"a\"\r\n") == .proceed)
        #expect(evaluate("If-None-Match: \"a\"\r\nIf-Match: \"b\"\r\n") == .preconditionFailed)
        #expect(evaluate("If-Match: \"a\"\r\nIf-None-Match: \"a\"\r\n") == .notModified)
        #expect(evaluate("If-Unmodified-Since: 100\r\nIf-Modified-Since: 100\r\n") == .notModified)
        #expect(evaluate("If-Unmodified-Since: 99\r\nIf-None-Match: \"a\"\r\n") == .preconditionFailed)
    }

    @Test(
        "If-Range makes Range count only for the same representation (RFC 9110 §13.1.5)",
        arguments: [
            ("", true, true), ("If-Range: \"a\"\r\n", true, true), ("If-Range: \"b\"\r\n", false, false),
            ("If-Range: W/\"a\"\r\n", false, false), ("If-Range: 100\r\n", true, false),
            ("If-Range: 101\r\n", false, false),
            ("If-Range: 99\r\n", false, false), ("If-Range: junk\r\n", false, false),
            ("If-Range: *\r\n", false, false),
            ("If-Range: \"a\", \"b\"\r\n", false, false),
            ("If-Range: \"a\"\r\nIf-Range: \"a\"\r\n", false, false),
            ("If-Range:\r\n", false, false),
        ])
    func ifRange(lines: String, withStrongDate: Bool, withWeakDate: Bool) {
        let request = HeadReading(head("Range: bytes=0-1\r\n" + lines)).request
        let tag = EntityTag("\"a\"".utf8)

        for (isStrong, expected) in [(true, withStrongDate), (false, withWeakDate)] {
            let allows = Precondition.allowsRange(
                request, etag: tag, lastModified: 100, isLastModifiedStrong: isStrong, date: date)
            #expect(allows == expected)
        }
    }
}
