// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPServer
import Testing

@testable import Cache
@testable import Answering
@testable import ImageProxyd
@testable import Imaging
@testable import Loading
@testable import Origins
@testable import Primitives
@testable import URLs

@Suite("Configuration")
struct ConfigurationLoaderTests {
    private func load(
        _ file: String? = nil, environment: [String: String] = [:], listen: [String] = []
    ) throws(ConfigurationError) -> ProxyConfiguration {
        try ConfigurationLoader.load(
            .init(file: file.map { ("c.json", Array($0.utf8)) }, environment: environment, listen: listen)
        ).configuration
    }

    private func problems(_ file: String? = nil, environment: [String: String] = [:], listen: [String] = [])
        -> [String]
    {
        do {
            _ = try load(file, environment: environment, listen: listen)
            return []
        } catch {
            return error.issues.map(\.description)
        }
    }

    @Test("Without file and environment the defaults apply, and they are within their bounds")
    func defaults() throws {
        #expect(try load() == ProxyConfiguration())
        #expect(try load("{}") == ProxyConfiguration())
    }

    @Test("The file's values replace the defaults; a value that it does not name stays")
    func fileOverDefaults() throws {
        let configuration = try load(
            """
            {"cache": {"memory": {"maxBytes": "64MiB"}, "results": "disk"}, "fetch": {"queueTimeout": 7},
             "formats": {"auto": ["webp"]}, "limits": {"side": 100}}
            """)

        #expect(configuration.cache.memory.maxBytes == .mebibytes(64))
        #expect(configuration.cache.memory.maxEntryBytes == .mebibytes(4))
        #expect(configuration.cache.results == .disk)
        #expect(configuration.fetch.queueTimeout == .seconds(7))
        #expect(configuration.formats.auto == [.webp])
        #expect(configuration.limits.side == 100)
    }

    @Test(
        "YAML is recognized, and the error says how to turn it into JSON; a byte order mark is no error",
        arguments: [
            "listen:\n  - 127.0.0.1:1\n", "---\nlisten: []\n", "# settings\ncache: {}\n",
        ])
    func yaml(text: String) throws {
        let problem = try #require(problems(text).first)
        #expect(problem.hasPrefix("c.json:") && problem.contains("yq -o=json"))
        #expect(problems("\u{FEFF}{}").isEmpty)
        #expect(problems("{listen: 1}").first?.contains("YAML") == false)
    }

    @Test(
        "An invalid origin rule is named by its index, and its content is not shown"
    )
    func originRules() throws {
        let cases = [
            (#""auth": {"type": "bearer", "token": "hush"}"#, "origins.1.auth: token is read"),
            (#""auth": {"type": "bearer", "token": "hush"}"#, #"write {"file": "/path"} or {"credential""#),
            (#""auth": {"type": "digest", "token": "hush"}"#, "origins.1.auth.type: expected one of basic"),
            (#""retries": 3"#, "origins.1.retries: unknown key"),
            (#""cookies": "all""#, "origins.1.cookies: expected one"),
            (#""tls": {"insecure": "yes"}"#, "origins.1.tls.insecure: expected true or false"),
            (#""acceptStatus": [304]"#, "origins.1.acceptStatus: 304"),
            (#""responseTTL": {"minimum": "soon"}"#, "origins.1.responseTTL.minimum: expected a duration"),
        ]
        for (member, message) in cases {
            let found = problems(
                """
                {"origins": [{"match": "https://hush.example/*"}, {"match": ["https://a.example/*"], \(member)}]}
                """)
            #expect(found.contains { $0.contains(message) }, "\(member): \(found)")
            #expect(!found.contains { $0.contains("hush") })
        }
        let rules = try load(
            #"{"origins": [{"match": "https://a.example/*", "auth": {"type": "bearer", "token": {"credential": "t"}}}]}"#
        )
        #expect(
            rules.origins.first?.auth == .bearer(.credential("t")), "secrets are read at the start, not here")
    }

    @Test("The environment wins over the file, a flag over both")
    func precedence() throws {
        let file = "{\"listen\": [\"127.0.0.1:1\"], \"cache\": {\"memory\": {\"maxBytes\": \"1MiB\"}}}"
        let environment = ["IMAGEPROXYD_CACHE_MEMORY_MAX_BYTES": "2MiB", "IMAGEPROXYD_LISTEN": "127.0.0.1:2"]

        #expect(try load(file, environment: environment).cache.memory.maxBytes == .mebibytes(2))
        #expect(try load(file, environment: environment).listen == ["127.0.0.1:2"])
        #expect(try load(file, environment: environment, listen: ["127.0.0.1:3"]).listen == ["127.0.0.1:3"])
    }

    @Test("Every setting has an environment variable of its own, and accepts its default")
    func environmentNames() throws {
        let settings = EnvironmentNames.settings

        #expect(settings["IMAGEPROXYD_CACHE_MEMORY_MAX_BYTES"]?.path == "cache.memory.maxBytes")
        #expect(settings["IMAGEPROXYD_FAILED_URLS_TTL_NOT_AN_IMAGE"]?.path == "failedURLs.ttl.notAnImage")
        #expect(settings["IMAGEPROXYD_FETCH_HTTP2"]?.path == "fetch.http2")
        #expect(settings.count == ProxyConfiguration.settings.rows.count)
        for (name, setting) in settings {
            let value = setting.json(ProxyConfiguration())
            let text = if case .string(let text) = value { text } else { value.compact }
            #expect(try load(environment: [name: text]) == ProxyConfiguration(), "\(name)")
        }
    }

    @Test("Variables contain numbers, words, comma-separated lists or JSON lists, and JSON objects")
    func environmentValues() throws {
        let configuration = try load(environment: [
            "IMAGEPROXYD_SECURITY_PORTS": "80, 443",
            "IMAGEPROXYD_SECURITY_ALLOWED_NETWORKS": "[\"10.0.0.0/8\"]",
            "IMAGEPROXYD_SECURITY_DENIED_NETWORKS": "", "IMAGEPROXYD_FETCH_HEADERS": "{\"X-A\": \"1\"}",
            "IMAGEPROXYD_FETCH_HTTP2": "false", "IMAGEPROXYD_CACHE_DISK_LOW_WATER": "0.5",
            "IMAGEPROXYD_FETCH_USER_AGENT": "true", "PATH": "/bin",
        ])

        #expect(configuration.security.addresses.ports == [80, 443])
        #expect(configuration.security.addresses.allowedNetworks == ["10.0.0.0/8"])
        #expect(configuration.security.addresses.deniedNetworks.isEmpty)
        #expect(configuration.fetch.headers == ["X-A": "1"])
        #expect(!configuration.fetch.http2)
        #expect(configuration.cache.disk.lowWater == 0.5)
        #expect(configuration.fetch.userAgent == "true")
    }

    @Test("All errors are reported at once, with place, path, value and what is allowed")
    func everythingAtOnce() {
        let problems = problems(
            """
            {"cache": {"memory": {"maxByte": 5}, "results": "some"},
             "fetch": {"queueTimeout": "soon", "retries": 99}, "http": []}
            """, environment: ["IMAGEPROXYD_QUALITY_JPG": "1", "IMAGEPROXYD_QUALITY_WEBP": "101"])

        #expect(
            problems == [
                "c.json:1:34: cache.memory.maxByte: unknown key, did you mean maxBytes?",
                "c.json:1:49: cache.results: \"some\" is not allowed, expected one of none, memory, disk, all",
                "c.json:2:28: fetch.queueTimeout: \"soon\" is not allowed, "
                    + "expected a duration such as 15, \"15s\", \"250ms\" or \"7d\"",
                "c.json:2:60: http: a list is not allowed, expected an object",
                "environment IMAGEPROXYD_QUALITY_JPG: unknown variable, did you mean IMAGEPROXYD_QUALITY_JPEG?",
                "c.json:2:47: fetch.retries: 99 is not allowed, expected 0 to 10",
                "environment IMAGEPROXYD_QUALITY_WEBP: quality.webp: 101 is not allowed, expected 1 to 100",
            ])
    }

    @Test(
        "Each wrong element of a list, and each wrong member of a table, is reported",
        arguments: [
            (
                #"{"formats": {"decode": ["jpg", "bmp", "png", "pcx"]}}"#,
                [
                    #"c.json:1:32: formats.decode.1: "bmp" is not allowed, expected one of"#,
                    #"c.json:1:46: formats.decode.3: "pcx" is not allowed, expected one of"#,
                ]
            ),
            (
                #"{"presets": {"h": 5, "i": {"quality": 0}, "j": {"lossless": true, "quality": true}}}"#,
                [
                    "c.json:1:19: presets.h: 5 is not allowed, expected an object",
                    "c.json:1:39: presets.i.quality: must be from 1 to 100",
                    "c.json:1:78: presets.j.quality: only digits are allowed",
                ]
            ),
            (
                #"{"log.level": "debug", "nonsense.level": 1}"#,
                [
                    #"c.json:1:15: log.level: unknown key, keys are nested objects: {"log": {"level": …}}"#,
                    "c.json:1:42: nonsense.level: unknown key",
                ]
            ),
        ])
    func eachElement(file: String, expected: [String]) {
        let found = problems(file)
        #expect(found.count == expected.count, "\(found)")
        for (problem, start) in zip(found, expected) { #expect(problem.hasPrefix(start)) }
    }

    @Test("jpg is jpeg, as in the parameter format")
    func formatAlias() throws {
        let configuration = try load(
            #"{"formats": {"decode": ["jpg"]}, "origins": [{"match": "https://a/*", "storeAs": "jpg"}]}"#)

        #expect(configuration.formats.decode == [.jpeg])
        #expect(configuration.origins.first?.storeAs == .jpeg)
    }

    @Test(
        "A format that is not read is refused where it would be written, with the setting that allows it",
        arguments: [
            (
                #""formats": {"auto": ["webp", "jxl"]}"#,
                #"1:31: formats.auto.1: "jxl" is written only where formats.decode names it, too"#
            ),
            (
                #""formats": {"decode": ["png"]}, "origins": [{"match": "https://a/*", "storeAs": "webp"}]"#,
                #"1:82: origins.0.storeAs: "webp" can't be read back: formats.decode must name it, too"#
            ),
            (
                #""origins": [{"match": "https://a/*", "storeAs": "tiff"}]"#,
                #"1:50: origins.0.storeAs: "tiff" can't be read back: formats.decode must name it, too"#
            ),
            (
                #""formats": {"svgPassThrough": true}"#,
                #"1:32: formats.svgPassThrough: true has no effect until formats.decode names "svg""#
            ),
        ])
    func unreadFormat(settings: String, problem: String) {
        #expect(problems("{\(settings)}").map { $0.replacing("c.json:", with: "") } == [problem])
    }

    @Test("A format that is read, too, may be written")
    func readFormat() throws {
        let configuration = try load(
            """
            {"formats": {"auto": ["jxl"], "decode": ["jpeg", "jxl", "svg"], "svgPassThrough": true},
             "origins": [{"match": "https://a/*", "storeAs": "jxl"}]}
            """)

        #expect(configuration.formats.auto == [.jxl] && configuration.origins.first?.storeAs == .jxl)
    }

    @Test(
        "Where a format is written, an error lists only those that can be",
        arguments: ["bmp", "heic", "svg"])
    func writableFormats(name: String) {
        let expected = "expected one of jpeg, png, webp, avif, gif, tiff, jxl"

        let rule = problems("{\"origins\": [{\"match\": \"https://a/*\", \"storeAs\": \"\(name)\"}]}")
        let automatic = problems("{\"formats\": {\"auto\": [\"\(name)\"]}}")

        #expect(rule == ["c.json:1:50: origins.0.storeAs: \(expected)"])
        #expect(automatic == ["c.json:1:23: formats.auto.0: \"\(name)\" is not allowed, \(expected)"])
    }

    @Test(
        "An unknown variable gets a hint only if it resembles one beyond the common prefix",
        arguments: [
            ("IMAGEPROXYD_CACHE_SIZE", "unknown variable"),
            ("IMAGEPROXYD_CONFIG", "unknown variable, --config names the file"),
            ("IMAGEPROXYD_LOG_LEVLE", "unknown variable, did you mean IMAGEPROXYD_LOG_LEVEL?"),
        ])
    func variableHints(name: String, problem: String) {
        #expect(problems(environment: [name: "1"]) == ["environment \(name): \(problem)"])
    }

    @Test("A variable for an object that is not JSON is refused with the place of its error")
    func variableSyntax() {
        #expect(
            problems(environment: ["IMAGEPROXYD_PRESETS": "{\"a\":{}"])
                == [
                    "environment IMAGEPROXYD_PRESETS: presets: it is not JSON: 1:8: expected a comma or a closing brace"
                ])
    }

    @Test("A dialect's prefix that is no path, or another dialect's, too, is named")
    func prefixes() {
        let dialects =
            #"{"dialects": [{"name": "weserv", "prefix": "/"}, {"name": "thumbor", "prefix": "NEXT"}]}"#

        let other = problems(dialects.replacing("NEXT", with: "old"))
        let same = problems(dialects.replacing("NEXT", with: "/"))

        #expect(other.contains { $0.contains("\"old\" is not allowed, expected a path such as / or /old") })
        #expect(same.contains { $0.contains("\"/\" is another dialect's, too") })
    }

    @Test("A table without defaults accepts any key; an unknown key beside it is refused")
    func freeTables() throws {
        #expect(try load("{\"fetch\": {\"headers\": {\"X-Any\": \"v\"}}}").fetch.headers == ["X-Any": "v"])
        #expect(
            problems("{\"fetch\": {\"header\": {\"X-Any\": \"v\"}}}").first?.contains("mean headers?") == true
        )
        #expect(problems("{\"fetch\": {\"headers\": {\"X\": 1}}}").first?.contains("expected text") == true)
        #expect(
            problems("{\"fetch\": {\"headers\": {\"X\": \"a\\nb\"}}}").first?.contains("fetch.headers.X")
                == true)
    }

    @Test(
        "A file that is not an object is refused as a whole",
        arguments: [
            ("[]", "c.json: a list is not allowed, expected an object"),
            ("{\"a\": 1,}", "c.json:1:9: expected a name in double quotes"),
            ("", "c.json:1:1: the text ends where a value is expected"),
        ])
    func noObject(file: String, problem: String) {
        #expect(problems(file) == [problem])
    }

    @Test(
        "Values out of bounds are refused",
        arguments: [
            ("{\"listen\": []}", "listen"), ("{\"listen\": [\"nowhere\"]}", "listen"),
            ("{\"listen\": [\"unix:relative\"]}", "listen"),
            ("{\"http\": {\"maxConnections\": 0}}", "http.maxConnections"),
            ("{\"http\": {\"idleTimeout\": 0}}", "http.idleTimeout"),
            ("{\"cache\": {\"memory\": {\"maxBytes\": 1}}}", "cache.memory.maxBytes"),
            ("{\"cache\": {\"disk\": {\"directory\": \"here\"}}}", "cache.disk.directory"),
            ("{\"cache\": {\"disk\": {\"lowWater\": 0}}}", "cache.disk.lowWater"),
            ("{\"freshness\": {\"minimum\": \"31d\"}}", "freshness.minimum"),
            ("{\"freshness\": {\"maximum\": \"1h\"}}", "freshness.default"),
            ("{\"transform\": {\"memoryPerWorker\": \"1MiB\"}}", "transform.memoryPerWorker"),
            ("{\"transform\": {\"niceness\": -1}}", "transform.niceness"),
            ("{\"formats\": {\"auto\": [\"heic\"]}}", "formats.auto.0"),
            ("{\"formats\": {\"auto\": [\"webp\", \"webp\"]}}", "formats.auto"),
            ("{\"formats\": {\"decode\": []}}", "formats.decode"),
            ("{\"fetch\": {\"userAgent\": \"a\\r\\nX: y\"}}", "fetch.userAgent"),
            ("{\"security\": {\"allowedNetworks\": [\"10.0.0.1/8\"]}}", "security.allowedNetworks"),
            ("{\"security\": {\"ports\": [0]}}", "security.ports"),
            ("{\"security\": {\"sources\": [\"https://a/*\", \"ftp://b\"]}}", "security.sources.1"),
            ("{\"log\": {\"accessRecords\": 1}}", "log.accessRecords"),
        ])
    func bounds(file: String, path: String) {
        let problems = problems(file)
        #expect(problems.count == 1 && ": \(problems[0])".contains(": \(path): "), "\(problems)")
    }

    @Test("An open proxy beyond loopback must be enabled explicitly")
    func openProxy() throws {
        #expect(problems(listen: ["0.0.0.0:80"]).first?.hasPrefix("--listen: listen: \"0.0.0.0:80\"") == true)
        #expect(problems("{\"security\": {\"openProxy\": true}}", listen: ["0.0.0.0:80"]).isEmpty)
        #expect(
            problems("{\"security\": {\"sources\": [\"https://a.example\"]}}", listen: ["[::]:80"]).isEmpty)
        #expect(problems(listen: ["unix:/tmp/a", "[::1]:80", "127.0.0.1:0"]).isEmpty)
    }

    @Test("The server gets its settings; 0 loops means one per core")
    func serverSettings() throws {
        var http = try load(#"{"http": {"maxHeaderBytes": "3KiB", "idleTimeout": "9s"}}"#).http

        let server = http.serverConfiguration

        #expect(server.loops == ProcessInfo.processInfo.activeProcessorCount)
        #expect(server.limits.headBytes == 3_072)
        #expect(server.idleTimeout == .seconds(9))
        http.loops = 2
        #expect(http.serverConfiguration.loops == 2)
    }

    @Test(
        "An unknown name is answered with the nearest known name",
        arguments: [
            ("maxByte", "maxBytes"), ("maxbytes", "maxBytes"), ("mxaBytes", "maxBytes"),
            ("directroy", "directory"),
            ("colour", nil), ("x", nil),
        ] as [(String, String?)])
    func nearestName(typed: String, meant: String?) {
        #expect(nearest(to: typed, among: ["maxBytes", "directory", "maxAge"]) == meant)
    }
}
