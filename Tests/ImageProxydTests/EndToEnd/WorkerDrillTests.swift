// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import TestSupport
import Testing

/// Workers are killed and get harmful pictures while valid pictures are requested.
@Suite("Worker drills")
struct WorkerDrillTests {
    /// The number of attacks on workers, from `DRILL_ROUNDS`.
    private static var rounds: Int { getenv("DRILL_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 6 }
    private static let clients = 4
    private static let blows: [CInt] = [SIGKILL, SIGSEGV, SIGSTOP, SIGABRT]

    /// How many answers each client has had.
    private final class Tally: Sendable {
        private let counts = Observed(Array(repeating: 0, count: clients))
        private let longest = Observed(Duration.zero)

        /// The number of all answers.
        var total: Int { counts.value.reduce(0, +) }
        /// How long the slowest of them took.
        var slowest: Duration { longest.value }

        func add(_ client: Int, after time: Duration) {
            counts.update { $0[client] += 1 }
            longest.update { $0 = max($0, time) }
        }

        /// Waits until no request is in progress that was so at the beginning: no picture is to be attacked
        /// twice.
        func waitForRunning() async {
            let before = counts.value
            _ = await counts.wait(until: { now in zip(before, now).allSatisfy { $1 >= $0 + 2 } })
        }
    }

    private func proxy() async throws -> Proxy {
        try await Proxy(environment: ["IMAGEPROXYD_TRANSFORM_TIMEOUT=6s"])
    }

    @Test(
        "While workers are killed, stopped and crashed under load, every valid picture is answered correctly")
    func drill() async throws {
        let proxy = try await proxy()
        let origin = proxy.origin
        origin.route("/photo.jpg", .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600")]))
        var reference: [Int: [UInt8]] = [:]
        for width in 40..<44 { reference[width] = try await good(proxy, width, number: -1).body }
        let expected = reference
        let tally = Tally()
        let isOver = Observed(false)

        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<Self.clients {
                group.addTask {
                    var number = client
                    while !isOver.value {
                        let width = 40 + number % 4
                        let start = ContinuousClock.now
                        let answer = try await good(proxy, width, number: number)
                        let time = ContinuousClock.now - start
                        #expect(
                            answer.status == 200, "\(number): \(String(decoding: answer.body, as: UTF8.self))"
                        )
                        let isRight = answer.body == expected[width]
                        #expect(isRight, "\(number)")
                        tally.add(client, after: time)
                        number += Self.clients
                    }
                }
            }
            for round in 0..<Self.rounds {
                await tally.waitForRunning()
                strike(try workers(of: proxy), Self.blows[round % Self.blows.count], round)
                try await poison(proxy, round)
            }
            await tally.waitForRunning()
            isOver.update { $0 = true }
            try await group.waitForAll()
        }

        let crashes = try await proxy.metric("imageproxyd_worker_restarts_total{reason=\"crash\"}")
        #expect(crashes >= 1)
        guard getenv("DRILL_ROUNDS") != nil else { return }
        print(
            "\(Self.rounds) blows and \(3 * Self.rounds) poisoned pictures, \(Int(crashes)) workers lost to crashes,"
                + " \(tally.total) good answers under way: all right, the slowest after \(tally.slowest)")
    }

    @Test("Without isolation the daemon has no workers, logs a warning, and renders")
    func withoutIsolation() async throws {
        let proxy = try await Proxy(environment: ["IMAGEPROXYD_TRANSFORM_ISOLATION=none"])

        #expect(try await good(proxy, 40, number: 0).status == 200)
        #expect(try workers(of: proxy).isEmpty)
        #expect(proxy.daemon.log.contains("transform.isolation is none"))
    }

    /// A result that nothing has stored, of one of four sizes.
    private func good(_ proxy: Proxy, _ width: Int, number: Int) async throws -> RawHTTPClient.Answer {
        let path = "/photo-\(number).jpg"
        proxy.origin.route(path, .body(Fixtures.photo, fields: [("Cache-Control", "max-age=600")]))
        return try await proxy.get(proxy.target(path, "transform=resize:\(width)x&format=png"))
    }

    private func strike(_ workers: [Int32], _ signal: CInt, _ round: Int) {
        guard !workers.isEmpty else { return }
        kill(workers[round % workers.count], signal)
    }

    /// Sends what can't be rendered: a damaged photo, invalid bytes after a valid beginning, one that takes
    /// too much memory.
    private func poison(_ proxy: Proxy, _ round: Int) async throws {
        let damaged = Array(Fixtures.photo.prefix(Fixtures.photo.count / 2))
        let invalid =
            Array(Fixtures.photo.prefix(4)) + (0..<4_000).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ round) }
        for (name, body) in [("damaged", damaged), ("invalid", invalid)] {
            let path = "/\(name)-\(round).jpg"
            proxy.origin.route(path, .body(body, fields: []))
            let answer = try await proxy.get(proxy.target(path, "transform=resize:50x&format=png"))
            #expect(answer.status == 422, "\(name) \(round)")
        }
        let greedy = try await proxy.get(
            proxy.target("/photo.jpg", "transform=resize:7000x7000:fill:enlarge=1&format=avif"))
        #expect(greedy.status == 422)
    }

    /// The daemon's children (proc(5), stat: the field after name and state is the parent).
    private func workers(of proxy: Proxy) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap(Int32.init).filter { pid in
            // A process may have ended in between.
            guard let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else {
                return false
            }
            let fields = stat.split(separator: ")").last?.split(separator: " ")
            return fields?.dropFirst().first.map(String.init) == "\(proxy.daemon.pid)"
        }
    }
}
