// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Answering
@testable import ImageProxyd

@Suite("Signals of the service manager", .timeLimit(.minutes(20)))
struct SignalTests {
    @Test("A signal to end that comes at once is not lost")
    func termination() async {
        await #expect(processExitsWith: .success) {
            let termination = await TerminationSignal()
            kill(getpid(), SIGTERM)
            #expect(await termination.first() == "SIGTERM")
        }
    }

    @Test("A signal to reload that comes before the daemon is ready is handled then")
    func hangUp() async {
        await #expect(processExitsWith: .success) {
            let (reloads, continuation) = AsyncStream.makeStream(of: Void.self)
            let hangUps = await HangUpSignal { continuation.yield() }
            kill(getpid(), SIGHUP)
            let termination = await TerminationSignal()
            hangUps.begin()
            for await _ in reloads { break }
            kill(getpid(), SIGTERM)
            #expect(await termination.first() == "SIGTERM")
            hangUps.cancel()
        }
    }

    @Test("A signal to reload that comes before the settings are read is handled when the daemon is ready")
    func earlyHangUp() async {
        await #expect(processExitsWith: .success) {
            HangUpSignal.hold()
            kill(getpid(), SIGHUP)
            let (reloads, continuation) = AsyncStream.makeStream(of: Void.self)
            let hangUps = await HangUpSignal { continuation.yield() }
            hangUps.begin()
            for await _ in reloads { break }
            hangUps.cancel()
        }
    }
}
