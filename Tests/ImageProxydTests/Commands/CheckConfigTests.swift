// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("check-config")
struct CheckConfigTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    func check(
        _ settings: String, _ arguments: String..., environment: [String: String] = [:]
    ) async throws -> OtherProgram.Outcome {
        try folder.write(Array(settings.utf8), to: "c.json")
        chmod(folder.path, 0o755)
        chmod(folder.path + "/c.json", 0o644)
        return try await OtherProgram.run(
            DaemonProcess.executable, ["check-config", "--config", folder.path + "/c.json"] + arguments,
            environment: environment)
    }

    @Test("check-config reports a cache folder that can't be created")
    func cacheFolder() async throws {
        try folder.write([1], to: "file")

        let outcome = try await check(#"{"cache": {"disk": {"directory": "\#(folder.path)/file/cache"}}}"#)

        #expect(outcome.code == 78)
        #expect(
            outcome.errors
                == "\(folder.path)/c.json:1:34: cache.disk.directory: \(folder.path)/file/cache: Not a directory\n"
        )
        #expect(try await check(#"{"cache": {"disk": {"directory": "\#(folder.path)/a/b/c"}}}"#).code == 0)
        #expect(folder.files == ["c.json", "file"])
    }

    @Test(
        "check-config reports a header field that the daemon sets itself, with what sets it",
        arguments: [
            ("User-Agent", "is set by fetch.userAgent"), ("via", "is set by fetch.via"),
            ("Host", "the daemon sets this field itself"), ("Range", "the daemon sets this field itself"),
        ])
    func ownFields(name: String, problem: String) async throws {
        let outcome = try await check("{\"fetch\": {\"headers\": {\"\(name)\": \"x\"}}}")

        #expect(outcome.code == 78)
        #expect(outcome.errors.contains("c.json:1:"), "\(outcome.errors)")
        #expect(outcome.errors.contains(": fetch.headers.\(name): \(problem)"), "\(outcome.errors)")
    }

    @Test(
        "check-config reports what is wrong with a bucket and with its keys",
        arguments: [
            (#""bucket": {"url": "s3://a/b"}"#, "origins.0.bucket: a bucket is written s3://name/"),
            (
                #""bucket": {"url": "s3://a/"}"#,
                "origins.0.bucket: region: expected a value, here or in AWS_REGION"
            ),
            (#""bucket": {"url": "s3://a/", "zone": "x"}"#, "origins.0.bucket.zone: unknown key"),
            (
                #""match": "s3://a/*""#,
                "origins.0.match: \"s3://a/*\" is not allowed: no rule of origins has the bucket s3://a/"
            ),
            (
                #""match": "https://a/*", "auth": {"type": "awsSigV4", "accessKey": "a", "container": {}}"#,
                "origins.0.auth.container: accessKey or container, not both"
            ),
            (
                #"""
                "bucket": {"url": "gs://a/"},
                "auth": {"type": "awsSigV4", "accessKey": "a", "secretKey": {"file": "/none"}}
                """#, "origins.0.auth.secretKey: /none can't be read: No such file or directory"
            ),
            (
                #""bucket": {"url": "s3://a/", "region": "r"}, "auth": {"type": "awsSigV4", "webIdentity": {}}"#,
                "origins.0.auth.webIdentity.roleARN: expected a value, here or in AWS_ROLE_ARN"
            ),
        ])
    func buckets(rule: String, problem: String) async throws {
        let outcome = try await check("{\"origins\": [{\(rule)}]}")

        #expect(outcome.code == 78)
        #expect(outcome.errors.contains(problem), "\(outcome.errors)")
    }

    @Test(
        "check-config reports values of a dialect that can never work, with their line",
        arguments: [
            (#""name": "imgproxy", "watermark": "no""#, "watermark: \"no\" is no name in watermarks"),
            (
                #""name": "thumbor", "watermarks": {"http://h/a.png": "no"}"#,
                "watermarks.http://h/a.png: \"no\" is no name in watermarks"
            ),
            (
                #""name": "imaginary", "watermarks": {"http://h/a.png": "no"}"#,
                "watermarks.http://h/a.png: \"no\" is no name in watermarks"
            ),
            (
                #""name": "imgproxy", "allowedOptions": ["w", "foo"]"#,
                "allowedOptions.1: 'foo': there is no such option"
            ),
            (
                #""name": "imgproxy", "baseURL": "example.org""#,
                "baseURL: 'example.org' begins with no scheme"
            ),
            (#""name": "imgproxy", "signatureSize": 0"#, "signatureSize: expected 4 to 32"),
            (
                #""name": "thumbor", "signatureLength": -1"#,
                "signatureLength: expected 0 to 128"
            ),
            (#""name": "imgproxy", "onlyPresets": true"#, "onlyPresets: 'presets' is empty"),
            (#""name": "cloudflare", "base": "/pictures""#, "base: '/pictures' begins with no scheme"),
            (
                #""name": "weserv", "leniant": true"#,
                "leniant: unknown key; expected one of name, prefix, compatibleErrors, lenient"
            ),
        ])
    func dialects(settings: String, problem: String) async throws {
        let outcome = try await check("{\"dialects\": [\n{\(settings)}]}")

        #expect(outcome.code == 78)
        #expect(outcome.errors.contains("c.json:2:"), "\(outcome.errors)")
        #expect(outcome.errors.contains(": dialects.0.\(problem)"), "\(outcome.errors)")
    }

    @Test("check-config reports a folder of earlier entries that can't be read")
    func readOnlyFolder() async throws {
        let paths = "[\"\(folder.path)\", \"/nonexistent\"]"

        let outcome = try await check("{\"cache\": {\"disk\": {\"readOnlyPaths\": \(paths)}}}")

        #expect(outcome.code == 78)
        let expected = "cache.disk.readOnlyPaths.1: /nonexistent: No such file or directory\n"
        #expect(outcome.errors.hasSuffix(expected), "\(outcome.errors)")
    }

    @Test("check-config reports a preset without a name")
    func namelessPreset() async throws {
        let outcome = try await check(#"{"presets": {"": {"transform": "resize:9x"}}}"#)

        #expect(outcome.code == 78)
        #expect(outcome.errors.contains("presets: a preset without a name can't be requested"))
    }

    @Test("check-config reports a cache folder that the file system can't hold")
    func impossibleFolder() async throws {
        let outcome = try await check(#"{"cache": {"disk": {"directory": "/proc/cache"}}}"#)

        #expect(outcome.code == 78)
        #expect(
            outcome.errors.contains(
                "cache.disk.directory: /proc/cache can't be made: no folder can be made in /proc: "))
    }

    @Test("check-config names the default cache folder that can't be made, and the folder above it")
    func defaultFolder() async throws {
        let outcome = try await check("{}", environment: ["HOME": "/proc/nowhere"])

        #expect(outcome.code == 78)
        let folder = "/proc/nowhere/.cache/imageproxyd"
        let problem = "cache.disk.directory: \(folder) can't be made: no folder can be made in /proc: "
        #expect(outcome.errors.contains(problem), "\(outcome.errors)")
    }

    @Test(
        "With --user, only a folder that the settings or systemd name is looked at",
        .enabled(if: geteuid() == 0))
    func folderOfOtherUser() async throws {
        mkdir(folder.path + "/home", 0o700)
        let home = ["HOME": folder.path + "/home"]

        let asNobody = try await check("{}", "--user", "nobody", environment: home)
        let named = try await check(
            "{}", "--user", "nobody",
            environment: home.merging(["CACHE_DIRECTORY": folder.path + "/home/a"]) { $1 })

        #expect(asNobody.code == 0, "\(asNobody.errors)")
        #expect(named.code == 78 && named.errors.contains("cache.disk.directory: "))
    }

    @Test("check-config warns of a source pattern that allows no path but the root")
    func rootPattern() async throws {
        let outcome = try await check(
            #"{"security": {"sources": ["http://a:81", "http://b:81/", "http://c/*", "http://d/e/"]}}"#)

        #expect(outcome.code == 0)
        #expect(
            outcome.errors
                == "warning: security.sources.1: http://b:81/ allows the path / alone, http://b:81/* the whole host\n"
        )
    }

    @Test("Outside the unit, check-config warns of credentials, which it can't look at")
    func credentials() async throws {
        let settings = #"""
            {"security": {"keys": ["credential:key"]}, "watermarks": {"logo": "credential:logo"},
             "origins": [{"match": "https://a/*", "auth": {"type": "bearer", "token": {"credential": "t"}}}]}
            """#

        let outside = try await check(settings)
        let inside = try await check(settings, environment: ["CREDENTIALS_DIRECTORY": folder.path])

        #expect(outside.code == 0)
        for key in ["security.keys.0", "watermarks.logo", "origins.0.auth.token"] {
            #expect(outside.errors.contains("warning: \(key): the credential is not looked at"))
        }
        #expect(inside.code == 78)
        #expect(inside.errors.contains("security.keys.0: credential:key: No such file or directory"))
    }

    @Test(
        "check-config reports two listeners on the same address",
        arguments: [
            (#""listen": ["127.0.0.1:80", "127.0.0.1:80"]"#, "listen"),
            (#""listen": ["unix:/a", "unix:/a"]"#, "listen"),
            (#""listen": ["0.0.0.0:80", "127.0.0.1:80"], "security": {"openProxy": true}"#, "listen"),
            (#""listen": ["[::]:80", "127.0.0.1:80"], "security": {"openProxy": true}"#, "listen"),
            (#""listen": ["127.0.0.1:80"], "admin": {"listen": ["127.0.0.1:80"]}"#, "admin.listen"),
            (#""admin": {"listen": ["[::1]:9"]}, "metrics": {"listen": ["[::1]:9"]}"#, "metrics.listen"),
        ])
    func listeners(settings: String, path: String) async throws {
        let outcome = try await check("{\(settings)}")

        #expect(outcome.code == 78)
        #expect(outcome.errors.contains(" \(path): ") && outcome.errors.contains("takes the same place"))
    }

    @Test("check-config accepts listeners that differ, and those for which the kernel chooses a port")
    func distinct() async throws {
        let settings = #"{"listen": ["127.0.0.1:0", "127.0.0.1:0", "[::1]:80", "127.0.0.1:80"]}"#

        #expect(try await check(settings).code == 0)
    }

    @Test("check-config reports that only presets are allowed while none exists")
    func onlyPresets() async throws {
        let outcome = try await check(#"{"security": {"onlyPresets": true}}"#)

        #expect(outcome.code == 78)
        #expect(outcome.errors.contains("security.onlyPresets: true is not allowed"))
    }

    @Test(
        "check-config does not show a key that was pasted in place of its file's path",
        arguments: [
            #""security": {"keys": ["hex:00112233445566778899aabbccddeeff"]}"#,
            #""security": {"keys": ["/Wm9vQmFyQmF6UXV4MTIzNDU2"]}"#,
            #""security": {"keys": "hex:00112233445566778899aabbccddeeff"}"#,
            #""admin": {"token": "a/b+Wm9vQmFyQmF6UXV4MTIzNDU2"}"#,
            #""fetch": {"headers": {"Authorization": "Bearer Wm9vQmFy\n"}}"#,
        ])
    func pastedKey(settings: String) async throws {
        let outcome = try await check("{\(settings)}")

        #expect(outcome.code == 78)
        #expect(
            !outcome.errors.contains("aabbcc") && !outcome.errors.contains("Wm9vQmFy"), "\(outcome.errors)")
        #expect(
            outcome.errors.contains("security.keys") || outcome.errors.contains("admin.token")
                || outcome.errors.contains("fetch.headers"))
    }

    @Test("check-config shows the path of a missing key file")
    func missingKey() async throws {
        let outcome = try await check(#"{"security": {"keys": ["\#(folder.path)/key"]}}"#)

        #expect(
            outcome.errors
                == "\(folder.path)/c.json:1:24: security.keys.0: \(folder.path)/key: No such file or directory\n"
        )
    }

    @Test("check-config shows a path below a missing folder, unless it could be a key")
    func missingFolder() async throws {
        let outcome = try await check(#"{"security": {"keys": ["/nope/key", "/etc/nope/imageproxyd/key"]}}"#)

        #expect(outcome.errors.contains("security.keys.0: /nope/key: No such file"))
        #expect(outcome.errors.contains("security.keys.1: /etc/nope/imageproxyd/key: No such file"))
    }

    @Test("names the line of each invalid origin rule")
    func rules() async throws {
        let unknown = try await check(
            """
            {"origins": [
              {"match": "https://a/*",
               "retries": 3},
              {"match": "https://b/*",
               "cookies": "all"}]}
            """)
        let refused = try await check(
            """
            {"origins": [
              {"match": "ftp://a/*"},
              {"match": "https://b/*", "responseTTL": {"minimum": 2,
                "maximum": 1}}]}
            """)
        let files = try await check(
            """
            {"origins": [
              {"match": "https://a/*", "loader": "file", "root": "/nonexistent"},
              {"match": "https://b/*", "tls": {"ca": "/etc/passwd"}}]}
            """)

        let found = [unknown, refused, files].map {
            $0.errors.split(separator: "\n").map {
                $0.split(separator: ":").dropFirst().prefix(3).joined(separator: ":")
            }
        }
        #expect(
            found == [
                ["3:15: origins.0.retries", "5:15: origins.1.cookies"],
                ["2:13: origins.0.match", "3:43: origins.1.responseTTL"],
                ["2:54: origins.0.root", "3:42: origins.1.tls.ca"],
            ])
    }

    @Test("names the line of each wrong parameter of each preset, and of each missing file")
    func places() async throws {
        let outcome = try await check(
            """
            {"presets": {
              "good": {"quality": 70},
              "bad": {
                "quality": 700,
                "transform": "resize:300x200,blr:2"}}}
            """)
        let files = try await check(
            """
            {"placeholders": {
              "none": "/nonexistent.png"}}
            """)

        let path = "\(folder.path)/c.json"
        #expect(outcome.code == 78)
        #expect(
            outcome.errors == """
                \(path):4:16: presets.bad.quality: must be from 1 to 100
                \(path):5:18: presets.bad.transform: position 15: blr: there is no such operation; did you mean 'blur'?

                """)
        #expect(
            files.errors == "\(path):2:11: placeholders.none: /nonexistent.png: No such file or directory\n")
    }

    @Test(
        "check-config warns root of a key that the unit's user can't read, and reports it as that user",
        .enabled(if: geteuid() == 0))
    func unreadableKey() async throws {
        try folder.write([UInt8](repeating: 0x61, count: 32), to: "key")
        chmod(folder.path, 0o755)
        chmod(folder.path + "/key", 0o600)
        let settings =
            #"{"security": {"keys": ["\#(folder.path)/key"]}, "cache": {"disk": {"directory": "/tmp"}}}"#

        let asRoot = try await check(settings)
        chmod(folder.path + "/c.json", 0o644)
        let asNobody = try await check(settings, "--user", "nobody")

        #expect(asRoot.code == 0)
        #expect(
            asRoot.errors.hasPrefix("warning: security.keys.0: not every user may read \(folder.path)/key, "))
        #expect(asNobody.code == 78)
        #expect(
            asNobody.errors
                == "\(folder.path)/c.json:1:24: security.keys.0: \(folder.path)/key: Permission denied\n")
    }
}
