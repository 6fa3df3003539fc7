// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc

/// A real object store on loopback that speaks S3: OpenStack Swift, by `Fixtures/object-store/serve.py`.
///
/// Its key is `test:tester` with the secret `testing`, its region `us-east-1`.
public final class ObjectStore: Sendable {
    /// The port that it listens on.
    public let port: Int
    /// Its URL, which ends in a slash.
    public var url: String { "http://127.0.0.1:\(port)/" }

    // First, so that it ends before its folder is removed.
    private let process: ChildProcess
    private let folder: TemporaryDirectory
    private static let python = "/usr/bin/python3"

    /// Starts it.
    /// - Throws: what the program says, for example where the package python3-swift is missing.
    public init() throws {
        folder = try TemporaryDirectory()
        // A pipe in the file system, so that the line with the port can be waited for.
        let output = folder.path + "/output"
        guard mkfifo(output, 0o600) == 0 else { throw RawHTTPClient.Failure(description: "mkfifo: \(errno)") }
        let reader = linux_open(output, O_RDWR | O_CLOEXEC, 0)
        defer { close(reader) }
        process = try MortalProcess.spawn(
            [Self.python, Self.script("serve.py"), folder.path + "/store"],
            environment: ["PATH=/usr/bin:/bin"], output: output, errors: folder.path + "/errors")
        do {
            port = try Self.port(reader, of: process)
        } catch {
            // Ignored: why the program's errors can't be read; that there is no port is said in any case.
            let errors = (try? folder.read("errors")).map { String(decoding: $0, as: UTF8.self) } ?? ""
            throw RawHTTPClient.Failure(
                description: "no object store (make test-packages installs one): \(error) \(errors)")
        }
    }

    /// Stores bytes under each of some names: a bucket, a slash and a key, not percent-encoded.
    public func put(_ bytes: [UInt8], as names: [String]) async throws {
        // Tests run at the same time: each upload has a file of its own.
        let source = "source-\(UInt64.random(in: 0...UInt64.max))"
        try folder.write(bytes, to: source)
        let outcome = try await OtherProgram.run(
            Self.python,
            [Self.script("put.py"), "\(port)", "\(folder.path)/\(source)"] + names,
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"])
        guard outcome.code == 0 else { throw RawHTTPClient.Failure(description: outcome.errors) }
    }

    /// Stops it in the middle of everything, as a machine that hangs; `resume` lets it go on.
    public func pause() { process.send(signal: SIGSTOP) }

    /// Lets it go on.
    public func resume() { process.send(signal: SIGCONT) }

    private static func script(_ name: String, from source: StaticString = #filePath) -> String {
        "\(source)".replacing("TestSupport/ObjectStore.swift", with: "Fixtures/object-store/\(name)")
    }

    /// Waits for the line with the port, or for the program's end.
    private static func port(_ output: CInt, of process: ChildProcess) throws -> Int {
        var text = ""
        var ready = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        while !process.hasEnded {
            guard poll(&ready, 1, 100) == 1 else { continue }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = read(output, &buffer, buffer.count)
            text += String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
            if text.hasSuffix("\n"),
                let port = text.dropLast().split(separator: ":").last.flatMap({ Int($0) })
            {
                return port
            }
        }
        throw RawHTTPClient.Failure(description: "it has ended")
    }
}
