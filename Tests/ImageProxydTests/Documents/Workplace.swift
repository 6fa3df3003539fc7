// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// A place to run the documentation's commands as they stand: a folder with the files that they name, an origin, and
/// daemons behind the addresses that they ask.
///
/// The rules by which a command of a page becomes one that runs here:
/// - `imageproxyd` is the program that is tested, `$HOME` and the current folder are the test's.
/// - `curl` goes to a daemon's unix socket: of 127.0.0.1:8080 to one with keys and presets, of 127.0.0.1:9000 to the one of
///   the recipe for Nextcloud. `--unix-socket` of a page stays.
/// - `/etc/imageproxyd/` is a folder in `$HOME`.
/// - The hosts of sources, such as example.org and ORIGIN, are rewritten to the origin by the daemon's settings.
final class Workplace: Sendable {
    private let folder: TemporaryDirectory
    private let origin: FakeOrigin
    private let daemons: [DaemonProcess]

    init() async throws {
        folder = try TemporaryDirectory()
        origin = try FakeOrigin()
        Self.answer(origin)
        try await Self.writeFiles(folder)
        let main = try await Self.start("8080", in: folder, Self.settings(folder, origin))
        let nextcloud = try await Self.start("9000", in: folder, Self.nextcloud(folder))
        daemons = [main, nextcloud]
    }

    /// A key of 32 bytes, as signing.md makes one.
    private static let key = "base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n"

    private static func start(
        _ port: String, in folder: TemporaryDirectory, _ settings: String
    ) async throws -> DaemonProcess {
        try folder.write([], to: "\(port)/placeholder")
        return try await DaemonProcess.start(in: "\(folder.path)/\(port)", configuration: settings)
    }

    /// The hosts of sources in the pages.
    private static let hosts = [
        "https://example.org/", "http://ORIGIN/", "https://origin.example/", "https://www.example.com/media/",
        "https://remote.example/",
    ]

    private static func settings(_ folder: TemporaryDirectory, _ origin: FakeOrigin) -> String {
        let rules = hosts.map { host in
            #"{"match": "\#(host)*", "rewrite": {"from": "\#(host)", "to": "\#(origin.url("/"))"}}"#
        }
        return """
            {"security": {"allowedNetworks": ["127.0.0.0/8"], "keys": ["\(folder.path)/key"], "requireSignature": false},
             "cache": {"disk": {"directory": "\(folder.path)/.cache/imageproxyd"}},
             "presets": {"avatar": {"transform": "resize:320x320:cover"}},
             "origins": [\(rules.joined(separator: ", "))], "transform": {"workers": 2, "timeout": "1m"}}
            """
    }

    /// The recipe shows no settings.
    private struct MissingRecipe: Error {}

    /// The settings of the recipe, with a cache of the test's own.
    private static func nextcloud(_ folder: TemporaryDirectory) throws -> String {
        let block = CodeBlock.all.first { $0.page == "docs/recipes/nextcloud.md" && $0.language == "json" }
        guard let block else { throw MissingRecipe() }
        let text = block.text.trimmingCharacters(in: .whitespacesAndNewlines)
        return text.replacing(#""listen": ["127.0.0.1:9000"],"#, with: "")
            .replacing(#""disk": {"#, with: "\"disk\": {\"directory\": \"\(folder.path)/9000/cache\", ")
    }

    private static func answer(_ origin: FakeOrigin) {
        let photo = OriginAnswer.body(Fixtures.photo, type: "image/jpeg")
        for name in ["cat.jpg", "cat.png", "seeding.jpg"] { origin.route("/" + name, photo) }
        // Larger than what is answered whole, and still arriving when the answer begins.
        let large = Fixtures.photo + [UInt8](repeating: 0, count: 200_000)
        var answer = OriginAnswer.chunked(
            [Array(large.prefix(150_000)), Array(large.dropFirst(150_000))],
            fields: [("Cache-Control", "public, max-age=600"), ("Content-Type", "image/jpeg")])
        if case .send(let rest) = answer.steps[2] {
            answer.steps[2] = .trickle(rest, piece: rest.count, everyMilliseconds: 50)
        }
        origin.route("/large.jpg", answer)
    }

    private static func writeFiles(_ folder: TemporaryDirectory) async throws {
        let settings = #"{"dialects": [{"name": "thumbor", "prefix": "/", "allowsUnsafe": true}]}"#
        let target = "/unsafe/300x200/example.org/photo.jpg"
        let log = "::1 - - [23/Nov/2026:10:00:00 +0000] \"GET \(target) HTTP/1.1\" 200 1\n"
        let answers = "/unsafe/300x200/example.org/photo.jpg 200 image/jpeg 0.1\n"
        for (name, text) in [
            ("key", key), ("etc/config.json", settings), ("config.json", settings), ("access.log", log),
            ("theirs.log", answers), ("ours.log", answers),
            ("alerts.yml", TextFiles.read("deploy/prometheus/alerts.yml")),
        ] {
            try folder.write(Array(text.utf8), to: name)
        }
        try folder.write(Fixtures.photo, to: "photo.jpg")
        try folder.write(Fixtures.heic.plain, to: "photo.heic")
        try await folder.writeProgram(curl(folder), to: "bin/curl")
        symlink(DaemonProcess.executable, folder.path + "/bin/imageproxyd")
        chmod(folder.path + "/key", 0o600)
    }

    /// Chooses the socket by the port that a command names.
    private static func curl(_ folder: TemporaryDirectory) -> String {
        """
        #!/bin/sh
        case "$*" in
            *--unix-socket*) exec /usr/bin/curl "$@" ;;
            *127.0.0.1:9000*) exec /usr/bin/curl --unix-socket '\(folder.path)/9000/http.sock' "$@" ;;
            *127.0.0.1:8080*) exec /usr/bin/curl --unix-socket '\(folder.path)/8080/http.sock' "$@" ;;
        esac
        echo "no daemon is there for: $*" >&2
        exit 7
        """
    }

    /// Runs a script; it ends with the first command that fails, and after five minutes in any case (with 124).
    /// - Parameter failsOnErrors: whether an answer of 400 and more is a failure.
    func run(_ script: String, failsOnErrors: Bool) async throws -> OtherProgram.Outcome {
        if failsOnErrors { try folder.write(Array("fail\nsilent\nshow-error\n".utf8), to: ".curlrc") }
        defer { if failsOnErrors { unlink(folder.path + "/.curlrc") } }
        // Another page may have made a key of its own.
        try folder.write(Array(Self.key.utf8), to: "key")
        let here = script.replacing("/etc/imageproxyd/", with: "\(folder.path)/etc/")
        return try await OtherProgram.run(
            "/usr/bin/timeout", ["300", "/bin/bash", "-c", "cd \"$HOME\" && set -eo pipefail\n" + here],
            environment: ["HOME": folder.path, "PATH": "\(folder.path)/bin:/usr/bin:/bin"])
    }

    /// The head of the answer to a target.
    func head(_ target: String) async throws -> RawHTTPClient.Answer {
        let path = daemons[0].socketPath
        return try await onThread {
            let client = try RawHTTPClient(unixSocket: path)
            defer { client.hangUp() }
            try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
            return try client.answer(isHead: false)
        }
    }
}
