// SPDX-License-Identifier: Apache-2.0

import TestSupport

/// A daemon and an origin for one test: the daemon may fetch from loopback, and its cache is in the test's
/// folder.
final class Proxy: Sendable {
    let origin: FakeOrigin
    let folder: TemporaryDirectory
    let daemon: DaemonProcess

    /// - Parameters:
    ///   - settings: further members of the configuration's object.
    ///   - security: further members of `security`.
    ///   - results: `cache.results`.
    ///   - uploads: `cache.uploads`.
    ///   - calls: system calls that the daemon's kernel does not support.
    init(
        settings: String = "", security: String = "", results: String = "all",
        in folder: TemporaryDirectory? = nil, origin: FakeOrigin? = nil, uploads: Bool = false,
        environment: [String] = [], without calls: [String] = []
    ) async throws {
        let folder = try folder ?? TemporaryDirectory()
        self.folder = folder
        self.origin = try origin ?? FakeOrigin()
        daemon = try await DaemonProcess.start(
            in: folder.path, configuration: Self.configuration(folder, settings, security, results, uploads),
            environment: environment, without: calls)
    }

    private static func configuration(
        _ folder: TemporaryDirectory, _ settings: String, _ security: String, _ results: String,
        _ uploads: Bool = false
    ) -> String {
        let settings = withLongTimeouts(settings)
        return """
            {"security": {"allowedNetworks": ["127.0.0.0/8"]\(security.isEmpty ? "" : ", ")\(security)}, \
            "cache": {"results": "\(results)", "uploads": \(uploads), "disk": {"directory": "\(folder.path)/cache"}}, \
            "transform": {"workers": 2, "queue": 512, "queueTimeout": "5m", "timeout": "1m"}, \(settings)}
            """
    }

    /// The settings with longer times for everything that they do not name: a machine that is busy with other
    /// tests is slow, not wrong.
    private static func withLongTimeouts(_ settings: String) -> String {
        let times: KeyValuePairs = [
            "fetch": "queueTimeout connectTimeout firstByteTimeout totalTimeout lowSpeedTime",
            "http": "headerTimeout bodyTimeout writeTimeout requestTimeout",
        ]
        return times.reduce(settings) { settings, section in
            let silent = section.value.split(separator: " ").filter { !settings.contains("\"\($0)\":") }
            let members = silent.map { "\"\($0)\": \"5m\"" }.joined(separator: ", ")
            let opening = "\"\(section.key)\": {"
            guard !settings.contains(opening) else {
                return settings.replacing(opening, with: "\(opening)\(members), ")
            }
            return settings + (settings.isEmpty ? "" : ", ") + "\(opening)\(members)}"
        }
    }

    /// Reloads the daemon with other settings, given as to `init`.
    /// - Returns: what it reports to the service manager.
    @discardableResult
    func reload(
        settings: String = "", security: String = "", results: String = "all"
    ) async throws -> [String] {
        try await daemon.reload(configuration: Self.configuration(folder, settings, security, results))
    }

    /// The target for a picture of the origin.
    func target(_ path: String, _ parameters: String = "") -> String {
        let url = origin.url(path).map { "/:?&=%".contains($0) ? Self.escaped($0) : String($0) }.joined()
        return "/img?url=\(url)\(parameters.isEmpty ? "" : "&")\(parameters)"
    }

    private static func escaped(_ character: Character) -> String {
        character.utf8.map { "%" + String($0, radix: 16, uppercase: true) }.joined()
    }

    /// Sends a request on a connection of its own.
    func get(_ target: String, _ lines: String...) async throws -> RawHTTPClient.Answer {
        try await ask("GET", target, lines: lines)
    }

    func get(_ target: String, lines: [String]) async throws -> RawHTTPClient.Answer {
        try await ask("GET", target, lines: lines)
    }

    func ask(_ method: String, _ target: String, _ lines: String...) async throws -> RawHTTPClient.Answer {
        try await ask(method, target, lines: lines)
    }

    /// Sends a request to the admin listener, which lies beside the disk tier.
    func administer(
        _ method: String, _ target: String, _ lines: String...
    ) async throws -> RawHTTPClient.Answer {
        try await administer(method, target, lines: lines)
    }

    func administer(_ method: String, _ target: String, lines: [String]) async throws -> RawHTTPClient.Answer
    {
        try await ask(method, target, lines: lines, at: folder.path + "/cache/admin.sock")
    }

    /// Sends a request with a query to the admin listener about a picture of the origin.
    func administer(
        _ method: String, _ path: String, about source: String, _ parameters: String = ""
    ) async throws -> RawHTTPClient.Answer {
        try await administer(method, target(source, parameters).replacing("/img", with: path))
    }

    /// Sends a request with content.
    func send(
        _ content: [UInt8], _ method: String = "POST", to target: String, _ lines: [String] = [],
        byAdmin: Bool = false
    ) async throws -> RawHTTPClient.Answer {
        try await ask(
            method, target, lines: lines + ["Content-Length: \(content.count)"], content: content,
            at: byAdmin ? folder.path + "/cache/admin.sock" : nil)
    }

    /// Sends content that is written in chunks already.
    func sendChunked(_ content: [UInt8], to target: String) async throws -> RawHTTPClient.Answer {
        try await ask("POST", target, lines: ["Transfer-Encoding: chunked"], content: content)
    }

    private func ask(
        _ method: String, _ target: String, lines: [String], content: [UInt8] = [], at socket: String? = nil
    ) async throws -> RawHTTPClient.Answer {
        let path = socket ?? daemon.socketPath
        return try await onThread {
            let client = try RawHTTPClient(unixSocket: path)
            defer { client.hangUp() }
            let fields = lines.map { $0 + "\r\n" }.joined()
            try client.send("\(method) \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
            if !content.isEmpty { try client.send(bytes: content) }
            return try client.answer(isHead: method == "HEAD")
        }
    }

    /// Repeats a request until the answer has this status; for what becomes true by itself.
    func firstAnswer(to target: String, with status: Int) async throws -> RawHTTPClient.Answer {
        while true {
            let answer = try await get(target)
            if answer.status == status { return answer }
        }
    }

    /// There is no metric of this name, or it has other labels: a test would wait for it without end.
    private struct UnknownMetric: Error {
        let name: String
    }

    /// A sample of the metrics by its exact name and labels; 0 if it is missing.
    func metric(_ name: String) async throws -> Double {
        let lines = try await get("/metrics").text.split(separator: "\n")
        if let line = lines.first(where: { $0.hasPrefix(name + " ") }) {
            return Double(line.dropFirst(name.count + 1)) ?? 0
        }
        let family = name.prefix { $0 != "{" }
        let sample = lines.first { $0.hasPrefix(family + "{") || $0.hasPrefix(family + " ") }
        let isKnown =
            sample.map { Self.labels(of: $0) == Self.labels(of: name) }
            ?? lines.contains { $0.hasPrefix("# TYPE \(family) ") }
        guard isKnown else { throw UnknownMetric(name: name) }
        return 0
    }

    private static func labels(of sample: some StringProtocol) -> [String] {
        String(sample).matches(of: /([a-z_]+)="/).map { String($0.1) }
    }
}

extension RawHTTPClient.Answer {
    /// Width and height of a PNG, from its first chunk.
    var pngSize: [Int]? { RawHTTPClient.pngSize(body) }

    /// The `code` of a problem document.
    var code: String? {
        text.split(separator: "\"code\":\"").dropFirst().first.map { String($0.prefix { $0 != "\"" }) }
    }
}

extension RawHTTPClient {
    /// Width and height of a PNG, from its first chunk; nil if it is none.
    static func pngSize(_ body: [UInt8]) -> [Int]? {
        guard body.starts(with: [0x89, 0x50, 0x4E, 0x47]), body.count > 24 else { return nil }
        return [16, 20].map { start in body[start..<(start + 4)].reduce(0) { $0 << 8 | Int($1) } }
    }
}
