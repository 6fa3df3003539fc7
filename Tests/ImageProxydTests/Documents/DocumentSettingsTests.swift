// SPDX-License-Identifier: Apache-2.0

import Foundation
import Primitives
import TestSupport
import Testing

@Suite("The settings in the documentation")
struct DocumentSettingsTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// Settings that some pages show are a part of others: members of `origins`.
    private static func whole(_ text: String) -> String {
        text.contains("\"security\":") || text.contains("\"origins\":") || text.contains("\"dialects\":")
            || !(text.contains("\"bucket\":") || text.contains("\"match\":"))
            ? text : "{\"origins\": [\(text)]}"
    }

    /// Files that settings name are made in the test's folder: keys, and pictures.
    private func local(_ text: String) throws -> String {
        var text = text
        for match in text.matches(of: /"(\/etc\/[^"]+)"/) {
            let name = String(match.1).replacing("/", with: "_")
            let isPicture = match.1.hasSuffix(".png")
            let key = Array("000102030405060708090a0b0c0d0e0f\n".utf8)
            let content: [UInt8] = isPicture ? Fixtures.photo : key
            try folder.write(content, to: String(name))
            text = text.replacing("\"\(match.1)\"", with: "\"\(folder.path)/\(name)\"")
        }
        return text.replacing("\"/srv/assets\"", with: "\"\(folder.path)\"")
    }

    @Test("check-config accepts every block of settings")
    func settings() async throws {
        let blocks = CodeBlock.all.filter { $0.language == "json" }
        #expect(blocks.count > 30)
        for (number, block) in blocks.enumerated() {
            let file = "\(folder.path)/\(number).json"
            try folder.write(Array(try local(Self.whole(block.text)).utf8), to: "\(number).json")

            let outcome = try await OtherProgram.run(
                DaemonProcess.executable, ["check-config", "--config", file],
                environment: [
                    // What a platform sets for the examples that have no keys of their own.
                    "HOME": folder.path, "AWS_REGION": "eu-central-1",
                    "AWS_ROLE_ARN": "arn:aws:iam::1:role/a", "AWS_WEB_IDENTITY_TOKEN_FILE": file,
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1/keys",
                ])

            #expect(outcome.code == 0, "\(block):\n\(outcome.errors)")
        }
    }

    @Test("The settings of a page on moving allow the URL that the page shows below them")
    func foreignURLs() async throws {
        let path = "300x200/smart/filters:quality(80)/images.example.org/photo.jpg"
        let code = HMACKey(.sha1, Array("000102030405060708090a0b0c0d0e0f".utf8)).code(for: Array(path.utf8))
        let urls = [
            ("thumbor", "/\(Base64.encodeURL(code))=/\(path)"),
            ("weserv", "/?url=example.org/photo.jpg&w=300&output=webp"),
        ]
        for (page, url) in urls {
            let block = try #require(CodeBlock.all.first { $0.page == "docs/moving/\(page).md" })
            try folder.write(Array(try local(block.text).utf8), to: "\(page).json")

            let outcome = try await OtherProgram.run(
                DaemonProcess.executable,
                ["translate", "--config", "\(folder.path)/\(page).json", "--dialect", page, url])

            #expect(outcome.code == 0, "\(page): \(outcome.errors)")
        }
    }

    @Test("nginx accepts every block of its settings", .enabled(if: nginx != nil))
    func nginxSettings() async throws {
        for (number, block) in CodeBlock.all.filter({ $0.language == "nginx" }).enumerated() {
            try folder.write(Array(try complete(block.text).utf8), to: "\(number).conf")

            let outcome = try await OtherProgram.run(
                Self.nginx ?? "nginx",
                ["-t", "-q", "-e", "stderr", "-p", folder.path, "-c", "\(folder.path)/\(number).conf"])

            #expect(outcome.code == 0, "\(block):\n\(outcome.errors)")
        }
    }

    /// nginx lies where only root's PATH looks.
    private static let nginx = ["/usr/sbin/nginx", "/usr/bin/nginx"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// A whole file of nginx: hosts of examples have addresses here, and nothing is written elsewhere.
    private func complete(_ text: String) throws -> String {
        var text = text.replacing("/var/log/nginx/", with: folder.path + "/")
            .replacing("listen 80;", with: "listen unix:\(folder.path)/nginx.sock;")
        for host in ["thumbor:", "imgproxy:", "imageproxyd:8080"] where text.contains("http://" + host) {
            let port = host.split(separator: ":").dropFirst().first ?? ""
            text = text.replacing("http://" + host, with: "http://127.0.0.1:\(port)")
        }
        if !text.contains("server {") { text = "server { listen unix:\(folder.path)/nginx.sock;\n\(text)}\n" }
        let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
            "\($0)_temp_path \(folder.path)/\($0);"
        }
        return """
            pid \(folder.path)/pid;
            events {}
            http {
            \(folders.joined(separator: "\n"))
            \(text)}
            """
    }

    @Test("JavaScript is understood by node", .enabled(if: OtherProgram.path(of: "node") != nil))
    func scripts() async throws {
        for (number, block) in CodeBlock.all.filter({ $0.language == "js" }).enumerated() {
            try folder.write(Array(block.text.utf8), to: "\(number).mjs")

            let outcome = try await OtherProgram.run(
                OtherProgram.path(of: "node") ?? "", ["--check", "\(folder.path)/\(number).mjs"])

            #expect(outcome.code == 0, "\(block):\n\(outcome.errors)")
        }
    }
}
