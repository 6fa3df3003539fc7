// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("A daemon that is killed")
struct KillTests {
    private static let rounds = 20
    private static let newPerRound = 6

    /// The correct answer of every target: an original's own bytes, or the bytes of a result's first answer.
    private final class ExpectedAnswers: Sendable {
        private let expected = Mutex<[String: [UInt8]]>([:])

        var targets: [String] { expected.withLock { $0.keys.sorted() } }

        /// Whether an answer is correct; the first one for a target defines that.
        func accepts(_ body: [UInt8], for target: String) -> Bool {
            expected.withLock { expected in
                guard let known = expected[target] else {
                    expected[target] = body
                    return true
                }
                return known == body
            }
        }
    }

    @Test("kill -9 during writes, 20 times: after each start every answer is correct")
    func killed() async throws {
        let (folder, origin, expected) = (try TemporaryDirectory(), try FakeOrigin(), ExpectedAnswers())
        var targets: [String] = []
        for round in 0..<Self.rounds {
            let proxy = try await Proxy(in: folder, origin: origin)
            for number in (round * Self.newPerRound)..<((round + 1) * Self.newPerRound) {
                let body = Fixtures.photo(number: number)
                origin.route("/\(number).jpg", .body(body, fields: [("Cache-Control", "max-age=600")]))
                let untouched = proxy.target("/\(number).jpg")
                #expect(expected.accepts(body, for: untouched))
                targets += [untouched, proxy.target("/\(number).jpg", "transform=resize:48x&format=png")]
            }
            let wrong = await killed(proxy, after: 1 + round % (2 * Self.newPerRound), of: targets, expected)
            #expect(wrong.isEmpty, "round \(round)")
        }

        let proxy = try await Proxy(in: folder, origin: origin)
        for target in targets {
            let answer = try await proxy.get(target)
            #expect(answer.status == 200 && expected.accepts(answer.body, for: target), "\(target)")
        }
        #expect(try await proxy.metric("imageproxyd_cache_corrupt_total{tier=\"disk\"}") == 0)
    }

    /// Requests all targets at once, kills the daemon when `count` answers are there; returns the targets
    /// answered wrongly.
    private func killed(
        _ proxy: Proxy, after count: Int, of targets: [String], _ expected: ExpectedAnswers
    ) async -> [String] {
        await withTaskGroup(of: (String, RawHTTPClient.Answer?).self) { group in
            for target in targets.reversed() {
                // A request that the kill cut off has no answer, right or wrong.
                group.addTask { (target, try? await proxy.get(target)) }
            }
            var (wrong, answered) = ([String](), 0)
            for await (target, answer) in group {
                guard let answer else { continue }
                if answer.status != 200 || !expected.accepts(answer.body, for: target) {
                    wrong.append(target)
                }
                answered += 1
                if answered == count { proxy.daemon.send(signal: SIGKILL) }
            }
            return wrong
        }
    }
}
