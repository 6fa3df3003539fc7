// SPDX-License-Identifier: Apache-2.0

import Answering
import Glibc
import Primitives
import Synchronization

/// Sends sources to the daemon piece by piece as one order, and asks how far it is. Blocking; its token may be read
/// from any thread.
final class PrefetchClient: Sendable {
    /// Why the command can't go on.
    enum Failure: Error, CustomStringConvertible {
        /// The daemon refuses the order.
        case refused(String)
        /// The daemon can't be reached, or has ended meanwhile.
        case unreachable(String)

        var description: String {
            switch self {
            case .refused(let reason), .unreachable(let reason): reason
            }
        }
    }

    private let daemon: AdminClient
    /// The members that each order has beside its sources.
    private let members: [JSONValue.Member]
    private let show: @Sendable (PrefetchProgress, _ isComplete: Bool) -> Void

    private struct State {
        var token: String?
        var urls: [String] = []
        var bytes = 0
        var sent = 0
        var isWaiting = false
        var sentAt = ContinuousClock.now
    }

    private let state = Mutex(State())

    /// Sources and bytes of one piece: well below what the daemon accepts.
    private static let maxURLs = 4_000
    private static let maxBytes = 256 << 10
    /// How often an answer is requested again while the daemon can't be reached, and the pause in seconds.
    private static let maxTries = 10
    private static let pause: UInt32 = 1

    /// - Parameters:
    ///   - members: what is made of each source.
    ///   - show: called with the progress about once a second; `isComplete` once all sources have been sent.
    init(
        _ daemon: AdminClient, members: [JSONValue.Member],
        show: @escaping @Sendable (PrefetchProgress, _ isComplete: Bool) -> Void
    ) {
        self.daemon = daemon
        self.members = members
        self.show = show
    }

    /// The order's token, once there is one.
    var token: String? { state.withLock(\.token) }
    /// The sources that were added.
    var count: Int { state.withLock { $0.sent + $0.urls.count } }

    // MARK: - Sending

    /// Adds a source; sends a piece once it is large enough.
    func add(_ url: String) throws(Failure) {
        let isFull = state.withLock { state in
            state.urls.append(url)
            state.bytes += Self.jsonBytes(of: url)
            return state.urls.count >= Self.maxURLs || state.bytes >= Self.maxBytes
        }
        if isFull { try send(hasMore: true) }
    }

    /// How long a URL is at most as JSON: what is escaped becomes up to six times as long.
    private static func jsonBytes(of url: String) -> Int {
        let isPlain = url.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }
        return url.utf8.count * (isPlain ? 1 : 6) + 8
    }

    /// Sends what there is, unless something has just been sent; so an order stays open while its input pauses.
    func sendNow() throws(Failure) {
        let isDue = state.withLock { state in
            guard ContinuousClock.now - state.sentAt >= Self.sendingInterval else { return false }
            return state.token != nil || !state.urls.isEmpty
        }
        if isDue { try send(hasMore: true) }
    }

    /// How long sources wait to be sent together; well below the time for which an order stays open.
    private static let sendingInterval = Duration.seconds(5)

    /// Sends what is left, and waits for the order's end.
    func finish() throws(Failure) -> PrefetchProgress {
        try send(hasMore: false)
        while true {
            let progress = try progress()
            show(progress, true)
            if progress.ended != nil { return progress }
            sleep(Self.pause)
        }
    }

    private func send(hasMore: Bool) throws(Failure) {
        let (token, urls) = state.withLock { ($0.token, $0.urls) }
        let list = JSONValue.Member(name: "urls", value: .strings(urls))
        let more = JSONValue.Member(name: "more", value: .bool(hasMore))
        let content = Array(
            JSONValue.object((token == nil ? members : []) + [list, more]).compact.utf8)
        while true {
            let answer = try post(content, adding: urls.count, to: token)
            if [200, 202].contains(answer.status), let progress = PrefetchProgress(answer.content) {
                state.withLock { state in
                    state.token = progress.token
                    state.sent += urls.count
                    (state.urls, state.bytes) = ([], 0)
                    state.sentAt = .now
                }
                return show(progress, !hasMore)
            }
            // An earlier try of the same, whose answer was lost, has closed the order.
            if answer.status == 409, urls.isEmpty, !hasMore { return }
            guard answer.status == 503 else { throw Self.failure(answer, token) }
            // Its queue is full: there is space as soon as some of it is done.
            let isFirst = state.withLock { state in
                defer { state.isWaiting = true }
                return !state.isWaiting
            }
            if token == nil, isFirst { HostProcess.reportError("waiting: \(answer.problem ?? "status 503")") }
            if let token {
                // An empty piece keeps the order open.
                let alive = JSONValue.object([
                    .init(name: "urls", value: .array([])), .init(name: "more", value: .bool(true)),
                ])
                let answer = try exchange("POST", "/prefetch/\(token)", Array(alive.compact.utf8))
                guard answer.status == 202, let progress = PrefetchProgress(answer.content) else {
                    throw Self.failure(answer, token)
                }
                show(progress, false)
            }
            sleep(Self.pause)
        }
    }

    /// Sends a piece. When the connection breaks, the daemon may have received it, and must not receive it twice (RFC 9110
    /// §9.2.2): the number of the order's sources shows which.
    private func post(
        _ content: [UInt8], adding count: Int, to token: String?
    ) throws(Failure) -> AdminConnection.Answer {
        guard let token else { return try exchange("POST", "/prefetch", content) }
        let total = state.withLock(\.sent) + count
        return try exchange("POST", "/prefetch/\(token)", content) { () throws(Failure) in
            let answer = try self.exchange("GET", "/prefetch/\(token)")
            return count > 0 && PrefetchProgress(answer.content)?.urls == total ? answer : nil
        }
    }

    private static func failure(_ answer: AdminConnection.Answer, _ token: String?) -> Failure {
        switch answer.status {
        case 401: .refused("the daemon requires its admin token: --token FILE")
        case 404 where token == nil:
            .refused("the daemon there can't prefetch: it is no admin listener, or an older version")
        case 404, 409: .unreachable("the daemon has ended the order, or was started again")
        default: .refused(answer.problem ?? "status \(answer.status)")
        }
    }

    // MARK: - Progress

    private func progress() throws(Failure) -> PrefetchProgress {
        guard let token else { throw .unreachable("there is no order") }
        let answer = try exchange("GET", "/prefetch/\(token)")
        guard answer.status == 200, let progress = PrefetchProgress(answer.content) else {
            throw Self.failure(answer, token)
        }
        return progress
    }

    /// Ends the order; false if the daemon does not confirm it.
    func cancel() -> Bool {
        guard let token else { return true }
        // Ignored: why; the caller says that the order may go on.
        return (try? daemon.connect("DELETE", "/prefetch/\(token)").answer().status) == 200
    }

    /// Asks again while a daemon that has been there can't be reached: it may be starting again.
    /// - Parameter earlierAnswer: called after a connection broke; what it returns makes another try needless.
    private func exchange(
        _ method: String, _ target: String, _ content: [UInt8] = [],
        earlierAnswer: () throws(Failure) -> AdminConnection.Answer? = { nil }
    ) throws(Failure) -> AdminConnection.Answer {
        for attempt in 1... {
            do throws(AdminConnection.Failure) {
                return try daemon.connect(method, target, content).answer()
            } catch {
                guard error.isTransient, token != nil, attempt < Self.maxTries else {
                    throw .unreachable("\(error)")
                }
                sleep(Self.pause)
                if case .broken = error, let answer = try earlierAnswer() { return answer }
            }
        }
        throw .unreachable("")
    }
}
