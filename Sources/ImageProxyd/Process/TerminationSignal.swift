// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
import Glibc

/// The signals that ask the daemon to finish; from its making on they no longer end the process by themselves.
struct TerminationSignal {
    private let names: AsyncStream<String>
    private let sources: [any DispatchSourceSignal]

    private static let signals = [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")]

    /// Begins to listen.
    init() {
        let (stream, continuation) = AsyncStream.makeStream(
            of: String.self, bufferingPolicy: .bufferingOldest(1))
        names = stream
        sources = Self.signals.map { number, name in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(name) }
            source.activate()
            return source
        }
    }

    /// Waits for the first of them, which may have come already, and returns its name.
    func first() async -> String {
        defer {
            for source in sources { source.cancel() }
        }
        for await name in names { return name }
        return "end"
    }
}
