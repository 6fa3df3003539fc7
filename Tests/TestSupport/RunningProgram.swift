// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Another program that serves until the test ends: a proxy in front of the daemon, a database of metrics.
public final class RunningProgram: Sendable {
    private let process: ChildProcess
    private let logPath: String
    /// Between two looks, in milliseconds.
    private static let pause: CInt = 20

    /// Starts it, with its output and errors in `log`.
    public init(
        _ arguments: [String], environment: [String] = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"], log: String
    ) throws {
        logPath = log
        process = try MortalProcess.spawn(arguments, environment: environment, log: log)
    }

    /// What it has written.
    public var log: String { TextFiles.contents(ofFile: logPath) }

    /// Returns when something is true.
    /// - Throws: the program's log, when it has ended, or after two minutes.
    public func wait(until isTrue: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while try await !isTrue() {
            guard !process.hasEnded, ContinuousClock.now < end else {
                throw DaemonProcess.Failure(
                    description: "it has ended, or too long nothing came true\n\(log)")
            }
            // Such a program does not report when it is ready, or has done something.
            try await onThread { _ = poll(nil, 0, Self.pause) }
        }
    }

    /// Returns when a port of 127.0.0.1 accepts connections.
    public func wait(forPort port: UInt16) async throws {
        try await wait {
            // Ignored: why the program does not listen yet.
            guard let client = try? RawHTTPClient(port: port) else { return false }
            client.hangUp()
            return true
        }
    }
}
