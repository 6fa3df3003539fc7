// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// An HTTPS origin with one file and a certificate of its own, for 127.0.0.1: `openssl s_server` on a free port.
public final class TLSOrigin: Sendable {
    /// The URL of the file.
    public let url: String
    /// The file with its certificate.
    public let certificate: String

    // First, so that it ends before its folder is removed.
    private let server: ChildProcess
    private let folder: TemporaryDirectory

    /// Makes a key and a certificate, and serves.
    /// - Parameters:
    ///   - hasHead: whether the bytes begin with the head of the answer.
    ///   - options: more options of `s_server`.
    public init(file: String, _ bytes: [UInt8], hasHead: Bool = false, options: [String] = []) throws {
        folder = try TemporaryDirectory()
        try folder.write(bytes, to: file)
        let (certificate, key) = try Self.makeCertificate(in: folder.path)
        self.certificate = certificate
        // A pipe in the file system, so that the line with the port can be waited for.
        let output = folder.path + "/output"
        guard mkfifo(output, 0o600) == 0 else { throw RawHTTPClient.Failure(description: "mkfifo: \(errno)") }
        let reader = linux_open(output, O_RDWR | O_CLOEXEC, 0)
        defer { close(reader) }
        server = try Self.openssl(
            [
                "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key,
                hasHead ? "-HTTP" : "-WWW",
            ] + options,
            output: output, in: folder.path)
        url = "https://127.0.0.1:\(try Self.port(reader))/\(file)"
    }

    /// Makes a key and a certificate for 127.0.0.1.
    static func makeCertificate(in folder: String) throws -> (certificate: String, key: String) {
        let (certificate, key) = (folder + "/certificate.pem", folder + "/key.pem")
        let request = try openssl(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                "2",
                "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
                certificate,
            ], output: folder + "/request.log")
        _ = try request.end()
        return (certificate, key)
    }

    /// Starts `openssl`, in `folder` if that is given, with its input from a file there if that is.
    static func openssl(
        _ arguments: [String], output: String, in folder: String? = nil, input: String? = nil
    ) throws -> ChildProcess {
        // s_server serves the files of its working folder, which it has no option for.
        let place = folder.map { "cd '\($0)' && " } ?? ""
        let command = place + "exec openssl \"$@\"" + (input.map { " < '\($0)'" } ?? "")
        return try MortalProcess.spawn(
            ["/bin/sh", "-c", command, "sh"] + arguments, environment: ["PATH=/usr/bin:/bin"], log: output)
    }

    /// Reads the port from the line `ACCEPT 127.0.0.1:4433`.
    static func port(_ output: CInt) throws -> Int {
        var text = ""
        var ready = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        while poll(&ready, 1, 120_000) == 1 {
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
