// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Synchronization

/// An HTTPS origin on 127.0.0.1 that sends what a test says, one connection after the other: each `send` is a
/// TLS record.
public final class TLSConversation: Sendable {
    /// The file with its certificate.
    public let certificate: String

    // First, so that it ends before its folder is removed.
    private let server: ChildProcess
    private let folder: TemporaryDirectory
    /// The port on which it listens.
    public let port: Int
    private let input: CInt
    private let output: CInt
    private let heard = Mutex("")

    /// Milliseconds without output of the server after which a test fails: with other tests running it waits
    /// for its turn.
    private static let maxWait: CInt = 600_000

    /// Makes a key and a certificate, and listens.
    public init() throws {
        folder = try TemporaryDirectory()
        let (certificate, key) = try TLSOrigin.makeCertificate(in: folder.path)
        self.certificate = certificate
        let names = (input: folder.path + "/input", output: folder.path + "/output")
        guard mkfifo(names.input, 0o600) == 0, mkfifo(names.output, 0o600) == 0 else {
            throw RawHTTPClient.Failure(description: "mkfifo: \(errno)")
        }
        // Both ends are open here as well, so that neither pipe ends before this does.
        input = linux_open(names.input, O_RDWR | O_CLOEXEC, 0)
        output = linux_open(names.output, O_RDWR | O_CLOEXEC, 0)
        server = try TLSOrigin.openssl(
            ["s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key],
            output: names.output, in: folder.path, input: names.input)
        port = try TLSOrigin.port(output)
    }

    deinit {
        close(input)
        close(output)
    }

    /// The absolute URL of a path.
    public func url(_ path: String) -> String { "https://127.0.0.1:\(port)\(path)" }

    /// The content of the file with its certificate.
    public func certificateBytes() throws -> [UInt8] { try folder.read("certificate.pem") }

    /// Waits for the next request.
    public func hear() async throws {
        try await onThread { try self.readRequest() }
    }

    /// Sends bytes, as one record: at most 16 KiB.
    public func send(_ bytes: [UInt8]) throws {
        guard write(input, bytes, bytes.count) == bytes.count else {
            throw RawHTTPClient.Failure(description: "write: \(errno)")
        }
    }

    /// Ends the connection without TLS's close_notify, as an attacker can.
    public func cut() {
        server.send(signal: SIGKILL)
    }

    /// The server prints requests among messages of its own.
    private func readRequest() throws {
        var text = heard.withLock { $0 }
        var maxWait = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        while true {
            if let start = text.firstRange(of: "GET /"),
                let end = text[start.upperBound...].firstRange(of: "\r\n\r\n")
            {
                let rest = String(text[end.upperBound...])
                heard.withLock { $0 = rest }
                return
            }
            guard poll(&maxWait, 1, Self.maxWait) == 1 else { break }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = read(output, &buffer, buffer.count)
            text += String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
        throw RawHTTPClient.Failure(description: "openssl s_server: \(text)")
    }
}
