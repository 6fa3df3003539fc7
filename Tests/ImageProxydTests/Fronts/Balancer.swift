// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// A balancer of others in front of several nodes, by the files of deploy/fronts/cluster with other nodes.
///
/// The nodes are origins that answer with their number: only the balancer is tested.
final class Balancer: Sendable {
    /// The programs that Debian has and that there is an example for.
    enum Kind: String, CaseIterable, Sendable {
        case nginx, haproxy, caddy

        fileprivate var program: String {
            switch self {
            case .nginx: "/usr/sbin/nginx"
            case .haproxy: "/usr/sbin/haproxy"
            case .caddy: "/usr/bin/caddy"
            }
        }

        fileprivate var file: String {
            switch self {
            case .nginx: "nginx.conf"
            case .haproxy: "haproxy.cfg"
            case .caddy: "Caddyfile"
            }
        }

        /// Whether the machine has the program: `make test-packages` installs all of them.
        var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }
    }

    /// A node that answers with its number.
    struct Node: Sendable {
        let number: Int
        let origin: FakeOrigin

        init(_ number: Int) throws {
            self.number = number
            origin = try FakeOrigin()
            origin.route("/img", .body(Array("\(number)".utf8), type: "text/plain"))
            origin.route("/readyz", .body(Array("ready\n".utf8), type: "text/plain"))
        }

        fileprivate var address: String { "127.0.0.1:\(origin.port)" }
    }

    private let folder: TemporaryDirectory
    private let heldPort: HeldPort
    private let program: RunningProgram
    /// nginx ends a connection after 1,000 requests.
    private static let requestsPerConnection = 500

    /// Returns once the balancer answers.
    /// - Parameter hasIdentifiers: whether the nodes of HAProxy have an `id` each.
    init(_ kind: Kind, _ nodes: [Node], hasIdentifiers: Bool = true) async throws {
        folder = try TemporaryDirectory()
        heldPort = try HeldPort()
        let port = heldPort.port
        try Self.writeFile(kind, folder, port, nodes, hasIdentifiers: hasIdentifiers)
        let file = "\(folder.path)/\(kind.file)"
        let command: [String] =
            switch kind {
            case .nginx: [kind.program, "-c", file, "-p", folder.path, "-e", "stderr"]
            case .haproxy: [kind.program, "-db", "-f", file]
            case .caddy: [kind.program, "run", "--adapter", "caddyfile", "--config", file]
            }
        program = try RunningProgram(
            command, environment: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=\(folder.path)"],
            log: folder.path + "/balancer.log")
        try await program.wait(forPort: port)
        try await program.wait { try await self.status("GET", Self.target(0)) == 200 }
    }

    // MARK: - Requests

    /// The status of the answer to a request.
    func status(_ method: String, _ target: String) async throws -> Int {
        try await onThread { [heldPort] in
            let client = try RawHTTPClient(port: heldPort.port)
            defer { client.hangUp() }
            try client.send("\(method) \(target) HTTP/1.1\r\nHost: images.example.org\r\n\r\n")
            return try client.answer().status
        }
    }

    /// The numbers of the nodes that get the requests for so many sources, one after the other.
    func homes(ofSources count: Int) async throws -> [Int] {
        try await onThread { [heldPort] in
            var homes: [Int] = []
            while homes.count < count {
                let client = try RawHTTPClient(port: heldPort.port)
                defer { client.hangUp() }
                for _ in 0..<min(Self.requestsPerConnection, count - homes.count) {
                    let target = Self.target(homes.count)
                    try client.send("GET \(target) HTTP/1.1\r\nHost: images.example.org\r\n\r\n")
                    let answer = try client.answer()
                    guard answer.status == 200, let home = Int(answer.text) else {
                        throw Front.Failure(description: "\(target): \(answer.status) \(answer.text)")
                    }
                    homes.append(home)
                }
            }
            return homes
        }
    }

    private static func target(_ number: Int) -> String {
        "/img?url=https%3A%2F%2Fwww.example.com%2Fmedia%2F\(number).jpg&transform=resize:300x"
    }

    // MARK: - Files

    /// Writes the example with this test's port and nodes; what it replaces has to be there.
    private static func writeFile(
        _ kind: Kind, _ folder: TemporaryDirectory, _ port: UInt16, _ nodes: [Node], hasIdentifiers: Bool
    ) throws {
        var text = TextFiles.read("deploy/fronts/cluster/" + kind.file)
        func replace(_ from: String, by to: String) throws {
            guard text.contains(from) else { throw Front.Failure(description: "\(kind.file) lacks \(from)") }
            text = text.replacing(from, with: to)
        }
        switch kind {
        case .nginx:
            try replace("listen 80;", by: "listen 127.0.0.1:\(port);")
            try replaceNodes(in: &text) { line in
                nodes.map { line.replacing("10.0.0.11:8080", with: $0.address) }
            }
            let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
                "\($0)_temp_path \(folder.path)/\($0);"
            }
            text = """
                daemon off; master_process off; pid \(folder.path)/nginx.pid; error_log stderr; events {}
                http { access_log off; \(places.joined(separator: " "))
                \(text)
                }
                """
        case .haproxy:
            try replace("bind :80", by: "bind 127.0.0.1:\(port)")
            try replaceNodes(in: &text) { line in
                nodes.map { node in
                    let identifier = hasIdentifiers ? " id \(node.number) " : " "
                    return line.replacing("10.0.0.11:8080", with: node.address)
                        .replacing("server node1", with: "server node\(node.number)")
                        .replacing(" id 1 ", with: identifier)
                }
            }
        case .caddy:
            try replace(
                "images.example.org {", by: "{\n\tadmin off\n}\nhttp://images.example.org:\(port) {")
            try replace(
                "10.0.0.11:8080 10.0.0.12:8080 10.0.0.13:8080",
                by: nodes.map(\.address).joined(separator: " "))
        }
        try folder.write(Array(text.utf8), to: kind.file)
    }

    /// Puts other lines in place of the three that name a node each.
    private static func replaceNodes(in text: inout String, by lines: (String) -> [String]) throws {
        let all = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let first = all.firstIndex(where: { $0.contains("10.0.0.11:8080") }),
            all[first + 1].contains("10.0.0.12:8080"), all[first + 2].contains("10.0.0.13:8080")
        else { throw Front.Failure(description: "the three nodes are not one after the other") }
        let head = Array(all[..<first])
        let tail = Array(all[(first + 3)...])
        text = (head + lines(all[first]) + tail).joined(separator: "\n")
    }
}
