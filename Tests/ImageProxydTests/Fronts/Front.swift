// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// A proxy of others in front of a real daemon, by the files of deploy/fronts with other ports and folders.
final class Front: Sendable {
    /// The programs that there is an example for.
    enum Kind: String, CaseIterable, Sendable {
        case nginx, varnish, haproxy, caddy

        /// Whether it stores answers itself.
        var stores: Bool { self != .caddy }

        fileprivate var program: String {
            switch self {
            case .nginx: "/usr/sbin/nginx"
            case .varnish: "/usr/sbin/varnishd"
            case .haproxy: "/usr/sbin/haproxy"
            case .caddy: "/usr/bin/caddy"
            }
        }

        fileprivate var file: String {
            switch self {
            case .nginx: "nginx.conf"
            case .varnish: "varnish.vcl"
            case .haproxy: "haproxy.cfg"
            case .caddy: "Caddyfile"
            }
        }

        /// Whether the machine has the program: `make test-packages` installs all of them.
        var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }
    }

    let kind: Kind
    let origin: FakeOrigin
    let daemon: DaemonProcess
    private let folder: TemporaryDirectory
    private let heldPort: HeldPort
    private var port: UInt16 { heldPort.port }
    private let program: RunningProgram

    /// Returns once the front answers.
    /// - Parameter downstream: members of `downstream` in place of the file's.
    init(_ kind: Kind, downstream: [String: String] = [:]) async throws {
        self.kind = kind
        let folder = try TemporaryDirectory()
        let origin = try FakeOrigin()
        (self.folder, self.origin) = (folder, origin)
        daemon = try await DaemonProcess.start(
            in: folder.path, configuration: try Self.settings(folder, downstream),
            environment: ["IMAGEPROXYD_LISTEN=127.0.0.1:0", "IMAGEPROXYD_ADMIN_LISTEN=127.0.0.1:0"])
        heldPort = try HeldPort()
        let port = heldPort.port
        let ports = try (Self.port(after: "listening on", daemon), Self.port(after: "admin on", daemon))
        try Self.writeFile(kind, folder, port, daemon: ports.0, admin: ports.1)
        program = try RunningProgram(
            Self.command(kind, folder, port),
            environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=\(folder.path)"],
            log: folder.path + "/front.log")
        try await program.wait(forPort: port)
        try await program.wait { try await self.get("/readyz").status == 200 }
    }

    /// Why a file does not fit this test.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    // MARK: - Requests

    /// A request to the front from an address of loopback, on a connection of its own.
    func ask(
        _ method: String, _ target: String, _ lines: [String] = [], from source: UInt32 = 0x7F00_0001
    ) async throws -> RawHTTPClient.Answer {
        try await onThread { [port] in
            let client = try RawHTTPClient(port: port, from: source)
            defer { client.hangUp() }
            let fields = (["Host: images.example.org"] + lines).map { $0 + "\r\n" }.joined()
            try client.send("\(method) \(target) HTTP/1.1\r\n\(fields)\r\n")
            return try client.answer(isHead: method == "HEAD")
        }
    }

    func get(_ target: String, _ lines: String...) async throws -> RawHTTPClient.Answer {
        try await ask("GET", target, lines)
    }

    /// The target for a picture of the origin.
    func target(_ path: String, _ parameters: String = "") -> String {
        let url = origin.url(path).replacing(":", with: "%3A").replacing("/", with: "%2F")
        return "/img?url=\(url)\(parameters.isEmpty ? "" : "&")\(parameters)"
    }

    /// How many requests for pictures have reached the daemon so far.
    func requestsToDaemon() async throws -> Int {
        let port = try Self.port(after: "admin on", daemon)
        let text = try await onThread {
            let client = try RawHTTPClient(port: port)
            defer { client.hangUp() }
            try client.send("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            return try client.answer().text
        }
        return text.matches(of: /imageproxyd_http_requests_total\{route="img",status="\d+"\} (\d+)/)
            .reduce(0) { $0 + (Int($1.1) ?? 0) }
    }

    /// Returns when something is true, asking again and again.
    func wait(until isTrue: () async throws -> Bool) async throws { try await program.wait(until: isTrue) }

    // MARK: - Files

    /// The settings of the example, for the test's origin.
    private static func settings(
        _ folder: TemporaryDirectory, _ downstream: [String: String]
    ) throws -> String {
        let data = Data(TextFiles.read("deploy/fronts/imageproxyd.json").utf8)
        guard var settings = try JSONSerialization.jsonObject(with: data) as? [String: Any],
            var security = settings["security"] as? [String: Any]
        else { throw Failure(description: "deploy/fronts/imageproxyd.json is no object") }
        settings["listen"] = nil
        settings["admin"] = nil
        security["sources"] = nil
        security["allowedNetworks"] = ["127.0.0.0/8"]
        settings["security"] = security
        settings["cache"] = ["disk": ["directory": folder.path + "/cache"]]
        settings["transform"] = ["workers": 2, "timeout": "1m"]
        if !downstream.isEmpty { settings["downstream"] = downstream }
        return String(decoding: try JSONSerialization.data(withJSONObject: settings), as: UTF8.self)
    }

    private static func port(after text: String, _ daemon: DaemonProcess) throws -> UInt16 {
        guard let tail = daemon.log.split(separator: "\(text) 127.0.0.1:").dropFirst().first,
            let port = UInt16(tail.prefix { $0.isNumber })
        else { throw Failure(description: "no port: \(daemon.log)") }
        return port
    }

    /// Writes the example with this test's ports; each that it names has to be there.
    private static func writeFile(
        _ kind: Kind, _ folder: TemporaryDirectory, _ port: UInt16, daemon: UInt16, admin: UInt16
    ) throws {
        var text = TextFiles.read("deploy/fronts/" + kind.file)
        let changes: [(String, String)] =
            switch kind {
            case .nginx:
                [
                    ("127.0.0.1:8080", "127.0.0.1:\(daemon)"), ("127.0.0.1:8081", "127.0.0.1:\(admin)"),
                    ("listen 80;", "listen 127.0.0.1:\(port);"),
                    ("/var/cache/nginx/pictures", folder.path + "/stored"),
                ]
            case .varnish: [("\"8080\"", "\"\(daemon)\""), ("\"8081\"", "\"\(admin)\"")]
            case .haproxy:
                [
                    ("127.0.0.1:8080", "127.0.0.1:\(daemon)"), ("127.0.0.1:8081", "127.0.0.1:\(admin)"),
                    ("bind :80", "bind 127.0.0.1:\(port)"),
                ]
            case .caddy:
                [
                    ("127.0.0.1:8080", "127.0.0.1:\(daemon)"), ("127.0.0.1:8081", "127.0.0.1:\(admin)"),
                    ("images.example.org {", "http://images.example.org:\(port) {"),
                ]
            }
        for (from, to) in changes {
            guard text.contains(from) else { throw Failure(description: "\(kind.file) lacks \(from)") }
            text = text.replacing(from, with: to)
        }
        if kind == .nginx {
            // The file is one of conf.d; this is what stands around it.
            let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
                "\($0)_temp_path \(folder.path)/\($0);"
            }
            text = """
                daemon off; master_process off; pid \(folder.path)/nginx.pid; error_log stderr; events {}
                http { access_log off; \(places.joined(separator: " "))
                \(text)
                }
                """
        }
        if kind == .caddy { text = "{\n\tadmin off\n}\n" + text }
        try folder.write(Array(text.utf8), to: kind.file)
    }

    private static func command(_ kind: Kind, _ folder: TemporaryDirectory, _ port: UInt16) -> [String] {
        let file = "\(folder.path)/\(kind.file)"
        return switch kind {
        case .nginx: [kind.program, "-c", file, "-p", folder.path, "-e", "stderr"]
        case .varnish:
            [
                kind.program, "-F", "-a", "127.0.0.1:\(port)", "-f", file, "-n", folder.path + "/varnish",
                "-s", "malloc,32m", "-j", "none",
            ]
        case .haproxy: [kind.program, "-db", "-f", file]
        case .caddy: [kind.program, "run", "--adapter", "caddyfile", "--config", file]
        }
    }
}
