// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("The command translate")
struct TranslateCommandTests {
    private func run(
        _ dialect: String, _ arguments: String..., settings: String = "{}"
    ) async throws -> OtherProgram.Outcome {
        let folder = try TemporaryDirectory()
        try folder.write(Array(settings.utf8), to: "settings.json")
        let all = ["translate", "--dialect", dialect, "--config", "\(folder.path)/settings.json"] + arguments
        return try await OtherProgram.run(DaemonProcess.executable, all, environment: [:])
    }

    private func report(on lines: [String], _ dialect: String = "imgproxy") async throws -> String {
        let folder = try TemporaryDirectory()
        try folder.write(Array(lines.joined(separator: "\n").utf8), to: "access.log")
        let outcome = try await run(dialect, "--log", "\(folder.path)/access.log")
        #expect(outcome.code == 0, "\(outcome.errors)")
        return outcome.output
    }

    @Test("A URL is printed as one of /img")
    func picture() async throws {
        let url = "https://images.example.org/unsafe/rs:fit:300:200/plain/https://example.org/cat.jpg@webp"

        let outcome = try await run("imgproxy", url)

        #expect(outcome.code == 0)
        #expect(outcome.output.hasPrefix("/img?url=https://example.org/cat.jpg&transform=resize:"))
        #expect(outcome.output.contains("&format=webp"))
    }

    @Test(
        "Without a dialect the form of the URL says whose it is, and which was read is printed",
        arguments: [
            ("https://wsrv.nl/?url=a.example/b.jpg&w=300", "weserv"),
            ("/unsafe/w:300/plain/https://a.example/b.jpg", "imgproxy"),
            ("/cdn-cgi/image/width=80/https://a.example/b.jpg", "cloudflare"),
        ])
    func guessed(url: String, dialect: String) async throws {
        let outcome = try await OtherProgram.run(
            DaemonProcess.executable, ["translate", url], environment: [:])

        #expect(outcome.code == 0 && outcome.output.hasPrefix("/img?url=http"), "\(outcome.output)")
        #expect(outcome.errors.contains("read as a URL of \(dialect)"), "\(outcome.errors)")
    }

    @Test("Of two paths with one dialect, the URL's own says by which settings it is read")
    func twoPaths() async throws {
        let settings = """
            {"dialects": [
                {"name": "imgproxy", "prefix": "/first", "baseURL": "https://first.example/"},
                {"name": "imgproxy", "prefix": "/second", "baseURL": "https://second.example/"}
            ]}
            """
        for path in ["first", "second"] {
            let outcome = try await run("imgproxy", "/\(path)/x/w:1/plain/a.jpg", settings: settings)
            #expect(
                outcome.output.hasPrefix("/img?url=https://\(path).example/a.jpg&"),
                "\(outcome.output)\(outcome.errors)")
        }
    }

    @Test(
        "A URL whose form is not known needs a dialect",
        arguments: [
            ("https://a.example/b.jpg", "--dialect says whose it is"),
            ("/img?url=https://a.example/b.jpg", "it is a URL of ours already"),
        ])
    func unknownForm(url: String, reason: String) async throws {
        let outcome = try await OtherProgram.run(
            DaemonProcess.executable, ["translate", url], environment: [:])

        #expect(outcome.code == 64 && outcome.errors.contains(reason), "\(outcome.errors)")
    }

    @Test(
        "What can't be translated is named",
        arguments: [
            ("/unsafe/adjust:1/plain/https://example.org/cat.jpg", "adjust"),
            ("/unsafe/w:many/plain/https://example.org/cat.jpg", "w"),
        ])
    func unsupported(url: String, option: String) async throws {
        let outcome = try await run("imgproxy", url)

        #expect(outcome.code == 1)
        #expect(outcome.errors.contains(option), "\(outcome.errors)")
    }

    @Test(
        "thumbor's URLs are translated without settings, whatever stands in the signature's place",
        arguments: ["unsafe", "NQJ7rF9gdmnQCCQ7PGCGVSZ0Jd4="])
    func withoutAccessChecks(signature: String) async throws {
        let outcome = try await run("thumbor", "/\(signature)/300x/example.org/cat.jpg")

        #expect(
            outcome.output.hasPrefix("/img?url=http://example.org/cat.jpg&transform="), "\(outcome.errors)")
    }

    @Test(
        "Where an option is misspelt, the error says what was read as the source",
        arguments: [
            ("/unsafe/smrt/example.org/cat.jpg", "'http://smrt/example.org/cat.jpg' was read as the source"),
            (
                "/unsafe/filters:blur/example.org/cat.jpg",
                "'http://filters:blur/example.org/cat.jpg' was read"
            ),
        ])
    func misspelt(url: String, text: String) async throws {
        let settings = #"{"security": {"sources": ["http://example.org/*"]}}"#

        let outcome = try await run("thumbor", url, settings: settings)

        #expect(outcome.code == 1 && outcome.errors.contains(text), "\(outcome.errors)")
    }

    @Test("A redirect to a source that the settings do not allow is refused by its name")
    func redirect() async throws {
        let settings = #"{"security": {"sources": ["http://example.org/*"]}}"#

        let outcome = try await run(
            "weserv", "/?url=example.org/cat.jpg&default=example.com/none.png", settings: settings)

        #expect(
            outcome.code == 1 && outcome.errors.contains("'default': security.sources"), "\(outcome.errors)")
    }

    @Test("What /img would refuse is refused, such as a source that the settings do not allow")
    func forbidden() async throws {
        let settings = #"{"security": {"sources": ["https://images.example.org/*"]}}"#

        let outcome = try await run(
            "imgproxy", "/unsafe/w:100/plain/https://example.com/cat.jpg", settings: settings)

        #expect(outcome.code == 1)
        #expect(outcome.errors.contains("source"), "\(outcome.errors)")
    }

    @Test(
        "A line of a log is a path, a URL, a request as nginx writes it, or JSON as Caddy and Traefik do",
        arguments: [
            "/unsafe/w:100/plain/https://example.org/cat.jpg",
            "https://images.example.org/unsafe/w:100/plain/https://example.org/cat.jpg",
            """
            ::1 - - [23/Nov/2026:10:00:00 +0000] "GET /unsafe/w:100/plain/https://example.org/cat.jpg HTTP/1.1" \
            200 123 "https://www.example.org/" "curl"
            """,
            """
            {"referer": "https://www.example.org/x", "request": {"method": "GET", \
            "uri": "/unsafe/w:100/plain/https:\\/\\/example.org/cat.jpg"}, "status": 200}
            """,
            #"{"request_Referer": "/page", "RequestPath": "/unsafe/w:100/plain/https://example.org/cat.jpg"}"#,
            #"{"request": "GET /unsafe/w:100/plain/https://example.org/cat.jpg HTTP/2.0"}"#,
        ])
    func line(line: String) async throws {
        #expect(try await report(on: [line]) == "1 of 1 URLs are understood\n")
    }

    @Test("A picture that came with the request needs no URL")
    func body() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Array(#""POST /resize?width=100&type=png HTTP/1.1""#.utf8), to: "access.log")

        let outcome = try await run(
            "imaginary", "--log", "\(folder.path)/access.log",
            settings: #"{"security": {"allowUploads": true}}"#)

        #expect(outcome.output == "1 of 1 URLs are understood\n", "\(outcome.errors)")
    }

    @Test("The ten most frequent obstacles of a log are named, the rest are counted")
    func report() async throws {
        let source = "plain/https://example.org/cat.jpg"
        var lines = ["started", "/unsafe/w:100/\(source)", "{\"level\": \"info\"}"]
        for number in 1...12 {
            lines += Array(repeating: "/unsafe/option\(number):1/\(source)", count: number)
        }

        let text = try await report(on: lines)

        #expect(
            text.hasPrefix(
                "1 of 79 URLs are understood\nlines without a URL: 2\nnot understood:\n  12 × 'option12':"))
        #expect(text.contains("  3 × 'option3':") && !text.contains("× 'option2':"))
        #expect(text.hasSuffix("  … and 2 more\n"))
    }
}
