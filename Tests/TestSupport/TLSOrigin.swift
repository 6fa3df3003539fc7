// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// An HTTPS origin with one file and a certificate of its own, for 127.0.0.1: `openssl s_server` on a free port.
public final class TLSOrigin: Sendable {
    /// The URL of the file.
    public let url: String
    /// The file with its certificate.
    public let certificate: String

    private let folder: TemporaryDirectory
    private let pid: pid_t

    /// Makes a key and a certificate, and serves.
    public init(file: String, _ bytes: [UInt8]) throws {
        folder = try TemporaryDirectory()
        certificate = folder.path + "/certificate.pem"
        try folder.write(bytes, to: file)
        let key = folder.path + "/key.pem"
        let request = try Self.openssl(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                "2",
                "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
                certificate,
            ], output: folder.path + "/request.log")
        waitpid(request, nil, 0)
        // A pipe in the file system, so that the line with the port can be waited for.
        let output = folder.path + "/output"
        guard mkfifo(output, 0o600) == 0 else { throw RawHTTPClient.Failure(description: "mkfifo: \(errno)") }
        let reader = linux_open(output, O_RDWR | O_CLOEXEC, 0)
        defer { close(reader) }
        pid = try Self.openssl(
            ["s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-WWW"],
            output: output, in: folder.path)
        url = "https://127.0.0.1:\(try Self.port(reader))/\(file)"
    }

    deinit {
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
    }

    private static func openssl(
        _ arguments: [String], output: String, in folder: String? = nil
    ) throws -> pid_t {
        // s_server serves the files of its folder, which is none of its options.
        let command = folder.map { "cd '\($0)' && exec openssl \"$@\"" } ?? "exec openssl \"$@\""
        return try MortalProcess.spawn(
            ["/bin/sh", "-c", command, "sh"] + arguments, environment: ["PATH=/usr/bin:/bin"], log: output)
    }

    /// Reads the port from the line `ACCEPT 127.0.0.1:4433`.
    private static func port(_ output: CInt) throws -> Int {
        var text = ""
        var patience = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        while poll(&patience, 1, 120_000) == 1 {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = read(output, &buffer, buffer.count)
            text += String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            if let line = lines.first(where: { $0.hasPrefix("ACCEPT ") }),
                let port = line.split(separator: ":").last.flatMap({ Int($0) })
            {
                return port
            }
        }
        throw RawHTTPClient.Failure(description: "openssl s_server: \(text)")
    }
}
