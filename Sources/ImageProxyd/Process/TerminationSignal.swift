// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
import Glibc

/// The signals that request the daemon to end; once this exists they no longer end the process by themselves.
struct TerminationSignal {
    private let names: AsyncStream<String>
    private let sources: [any DispatchSourceSignal]

    private static let signals = [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")]

    /// Returns when the signals are handled, so that none is lost from then on.
    init() async {
        let (stream, continuation) = AsyncStream.makeStream(
            of: String.self, bufferingPolicy: .bufferingOldest(1))
        names = stream
        sources = Self.signals.map { number, name in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield(name) }
            return source
        }
        for source in sources { await source.begin() }
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

extension DispatchSourceSignal {
    /// Activates the source, and returns when signals reach it: libdispatch does that on another thread, and one that comes
    /// before is ignored.
    func begin() async {
        await withCheckedContinuation { continuation in
            setRegistrationHandler { continuation.resume() }
            activate()
        }
    }
}
