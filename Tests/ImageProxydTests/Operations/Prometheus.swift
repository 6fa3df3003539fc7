// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// A real Prometheus that scrapes one daemon each second by the configuration of deploy/prometheus.
final class Prometheus: Sendable {
    private let heldPort: HeldPort
    private var port: UInt16 { heldPort.port }
    private let program: RunningProgram

    /// Why a query has no result.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns once it has scraped the daemon.
    init(scraping daemonPort: UInt16, in folder: TemporaryDirectory) async throws {
        let settings = TextFiles.read("deploy/prometheus/prometheus.yml")
            .replacing("127.0.0.1:9180", with: "127.0.0.1:\(daemonPort)").replacing("15s", with: "1s")
        try folder.write(Array(settings.utf8), to: "prometheus.yml")
        try folder.write(Array(TextFiles.read("deploy/prometheus/alerts.yml").utf8), to: "alerts.yml")
        heldPort = try HeldPort()
        let port = heldPort.port
        program = try RunningProgram(
            [
                "/usr/bin/prometheus", "--config.file=\(folder.path)/prometheus.yml",
                "--storage.tsdb.path=\(folder.path)/tsdb", "--web.listen-address=127.0.0.1:\(port)",
            ], log: folder.path + "/prometheus.log")
        try await program.wait(forPort: port)
        try await program.wait { try await self.values(of: "up == 1").count == 1 }
    }

    /// Returns when something is true, asking again and again.
    func wait(until isTrue: () async throws -> Bool) async throws { try await program.wait(until: isTrue) }

    /// The present values of an expression, each with its labels.
    func values(of expression: String) async throws -> [(labels: [String: String], value: Double)] {
        let escaped = expression.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let data = try await answer("/api/v1/query?query=\(escaped)")
        return (data["result"] as? [[String: Any]] ?? []).map { sample in
            let value = (sample["value"] as? [Any])?.last as? String
            return (sample["metric"] as? [String: String] ?? [:], value.flatMap { Double($0) } ?? .nan)
        }
    }

    /// A rule as Prometheus has read and evaluated it.
    struct Rule {
        var name = ""
        var isAlert = false
        var health = ""
        var state = ""
        var seconds = 0.0
        var labels: [String: String] = [:]
        var annotations: [String: String] = [:]
    }

    var rules: [Rule] {
        get async throws {
            let groups = try await answer("/api/v1/rules")["groups"] as? [[String: Any]] ?? []
            return groups.flatMap { $0["rules"] as? [[String: Any]] ?? [] }.map { rule in
                Rule(
                    name: rule["name"] as? String ?? "", isAlert: rule["type"] as? String == "alerting",
                    health: rule["health"] as? String ?? "", state: rule["state"] as? String ?? "",
                    seconds: (rule["duration"] as? NSNumber)?.doubleValue ?? 0,
                    labels: rule["labels"] as? [String: String] ?? [:],
                    annotations: rule["annotations"] as? [String: String] ?? [:])
            }
        }
    }

    private func answer(_ target: String) async throws -> [String: Any] {
        let body = try await onThread { [port] in
            let client = try RawHTTPClient(port: port)
            defer { client.hangUp() }
            try client.send("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            return try client.answer().body
        }
        let text = String(decoding: body, as: UTF8.self)
        // It accepts connections before it is ready.
        guard !text.hasPrefix("Service Unavailable") else { return [:] }
        let object = try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        guard object?["status"] as? String == "success" else { throw Failure(description: text) }
        return object?["data"] as? [String: Any] ?? [:]
    }
}
