// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// A real HTTP/1.1 origin on a loopback socket, whose answers are scripts; one thread a connection.
///
/// It counts and records requests, and clients that disconnect in the middle of an answer. Tests wait for
/// what it has recorded, never for time to pass.
public final class FakeOrigin: Sendable {
    /// Decides an answer when it is requested.
    public typealias Responder = @Sendable (OriginHTTPRequest) -> OriginAnswer

    /// What an origin has recorded.
    public struct Log: Sendable {
        /// All requests, in order.
        public var requests: [OriginHTTPRequest] = []
        /// Connections accepted.
        public var connections = 0
        /// Connections that have ended, whichever side ended them.
        public var closedConnections = 0
        /// How often a client disconnected before its answer was complete, by path.
        public var departures: [String: Int] = [:]
        /// Answers that were sent completely, by path.
        public var completions: [String: Int] = [:]

        /// How often a path was requested.
        public func count(_ path: String) -> Int { requests.count { $0.path == path } }
    }

    /// The port it listens on.
    public let port: Int
    /// The address it listens on.
    public let address: String

    /// What runs beside does not get the port once this has stopped.
    private let heldPort: HeldPort
    private let refusesTLS: Bool
    private let routes = Mutex<[String: Responder]>([:])
    private let observed = Observed(Log())
    private let stopGate = OriginGate()
    private let hasStopped = Observed(false)

    /// Listens on a free port of a loopback address; paths without a route are 404.
    ///
    /// A client that speaks TLS is answered 400 in plain text, as servers do, or else left to wait.
    public init(address: String = "127.0.0.1", refusesTLS: Bool = true) throws {
        self.refusesTLS = refusesTLS
        heldPort = try HeldPort(address: address)
        let listener = try OriginSocket.listen(on: address, port: heldPort.port)
        self.address = address
        port = listener.port
        // The thread retains the socket and the gate, not the origin, so that the origin can be released and
        // stop it.
        let stopGate = stopGate
        let hasStopped = hasStopped
        startThread { [weak self] in
            while let client = listener.accept(unlessOpen: stopGate) {
                guard let self else { break }
                self.serve(client)
            }
            listener.close()
            hasStopped.update { $0 = true }
        }
    }

    deinit {
        stopGate.open()
    }

    /// Ends all connections and stops listening.
    public func stop() {
        stopGate.open()
    }

    /// Waits, after `stop`, until new connections are refused.
    public func waitUntilStopped() async {
        await hasStopped.wait { $0 }
    }

    // MARK: - Routes

    /// The absolute URL of a path.
    public func url(_ path: String) -> String { "http://\(address):\(port)\(path)" }

    /// Gives a path (without query) the same answer always.
    public func route(_ path: String, _ answer: OriginAnswer) {
        route(path) { _ in answer }
    }

    /// Answers a path (without query) by calling `responder` each time.
    public func route(_ path: String, _ responder: @escaping Responder) {
        routes.withLock { $0[path] = responder }
    }

    /// Answers every path without a route of its own by calling `responder`.
    public func routeAll(_ responder: @escaping Responder) { route("", responder) }

    /// Answers a path with one answer after the other; the last one stays.
    public func route(_ path: String, inTurn answers: [OriginAnswer]) {
        let turn = Mutex(0)
        route(path) { _ in
            turn.withLock { turn in
                defer { turn += 1 }
                return answers[min(turn, answers.count - 1)]
            }
        }
    }

    // MARK: - Records

    /// What has been recorded so far.
    public var log: Log { observed.value }

    /// How often a path was requested.
    public func count(_ path: String) -> Int { log.count(path) }

    /// Waits until the log satisfies a condition.
    @discardableResult
    public func wait(until condition: @escaping @Sendable (Log) -> Bool) async -> Log {
        await observed.wait(until: condition)
    }

    /// Waits until a path has been requested `count` times.
    @discardableResult
    public func waitForRequests(_ path: String, count: Int = 1) async -> Log {
        await wait { $0.count(path) >= count }
    }

    /// Waits until `count` clients have disconnected before their answer to a path was complete.
    public func waitForDepartures(_ path: String, count: Int = 1) async {
        await wait { $0.departures[path, default: 0] >= count }
    }

    // MARK: - Serving

    private func serve(_ client: OriginSocket) {
        let number = observed.update { log in
            log.connections += 1
            return log.connections
        }
        let (stopGate, observed, refusesTLS) = (stopGate, observed, refusesTLS)
        startThread { [weak self] in
            while let head = client.readHead(refusingTLS: refusesTLS, unlessOpen: stopGate) {
                guard let self, var request = OriginHTTPRequest(head: head, connection: number) else { break }
                if let length = request["content-length"].flatMap({ Int($0) }) {
                    guard let content = client.readContent(length, unlessOpen: stopGate) else { break }
                    request.content = content
                }
                observed.update { [request] in $0.requests.append(request) }
                let isComplete = client.perform(self.answer(to: request), unlessOpen: stopGate)
                observed.update { [request] log in
                    if isComplete { log.completions[request.path, default: 0] += 1 }
                    if client.hasPeerLeft && !isComplete { log.departures[request.path, default: 0] += 1 }
                }
                guard client.isOpen, isComplete else { break }
            }
            client.close()
            observed.update { $0.closedConnections += 1 }
        }
    }

    private func answer(to request: OriginHTTPRequest) -> OriginAnswer {
        let responder = routes.withLock { $0[request.path] ?? $0[""] }
        let answer = responder?(request) ?? .status(404)
        return request.method == "HEAD" ? answer.headOnly : answer
    }
}

/// Runs `work` on a detached thread of its own.
func startThread(_ work: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(ThreadWork(work))
    var thread = pthread_t()
    let code = pthread_create(
        &thread, nil,
        { context in
            if let context = context {
                Unmanaged<ThreadWork>.fromOpaque(context).takeRetainedValue().work()
            }
            return nil
        }, box.toOpaque())
    precondition(code == 0, "pthread_create: \(code)")
    pthread_detach(thread)
}

private final class ThreadWork: Sendable {
    let work: @Sendable () -> Void
    init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}
