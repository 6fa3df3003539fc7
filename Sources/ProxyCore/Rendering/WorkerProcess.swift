// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Glibc
import Imaging
import Primitives

/// The daemon's handle of a worker process: started by `launched`, killed when this is destroyed.
///
/// Used by one thread only, the one that started it: the kernel kills a worker with that thread.
struct WorkerProcess: ~Copyable {
    /// The process id.
    let pid: pid_t
    /// The daemon's end of the socket pair.
    private let socket: OwnedDescriptor
    /// Jobs sent to it so far.
    private(set) var jobs = 0
    /// Bytes of address space that it had when it was ready.
    var startSpace = 0
    private var timeBefore = Duration.zero
    private var hasEnded = false
    /// The signal that ended it, once it has ended; 0 when there was none.
    private(set) var endSignal: CInt = 0

    /// The events that end a wait.
    enum Event {
        /// The worker has sent a message, or has closed its end.
        case message
        /// The alert descriptor was written to.
        case alert
        /// The time is up.
        case deadline
    }

    private init(pid: pid_t, socket: OwnedDescriptor) {
        self.pid = pid
        self.socket = socket
    }

    /// Spawns `executable` as a worker and sends it its settings.
    static func launched(
        _ executable: String, settings: WorkerSettings
    ) throws(RenderError) -> WorkerProcess {
        var pair: [CInt] = [-1, -1]
        guard unsafe linux_message_pair(&pair) == 0 else {
            throw .unavailable("socketpair: errno \(errno)")
        }
        let ours = OwnedDescriptor(owning: pair[0])
        let theirs = OwnedDescriptor(owning: pair[1])
        var pid: pid_t = 0
        let code = unsafe linux_spawn_worker(
            executable, WorkerProtocol.argument, WorkerProtocol.environment, theirs.raw, &pid)
        guard code == 0 else { throw .unavailable("posix_spawn of \(executable): errno \(code)") }
        let process = WorkerProcess(pid: pid, socket: ours)
        do { try WorkerProtocol.send(WorkerProtocol.Order.configure(settings), over: ours.raw) } catch {
            throw .unavailable("the worker closed its socket at start")
        }
        return process
    }

    deinit {
        if !hasEnded { Self.end(pid) }
    }

    /// Bytes of address space that the process has now (proc(5), statm); 0 if that can't be read.
    borrowing func addressSpace() -> Int {
        let text = FileIO.text(of: "/proc/\(pid)/statm", atMost: .kibibytes(1)) ?? ""
        return (Int(text.prefix { $0 != " " }) ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Kills the process and returns when it has exited, so that it can write no more.
    mutating func end() {
        guard !hasEnded else { return }
        hasEnded = true
        endSignal = Self.end(pid)
    }

    /// Whether it has exited by itself, or by a signal that the daemon did not send; waits a moment for one
    /// that is just exiting.
    ///
    /// False for one that has only closed its socket, and runs on.
    borrowing func hasEndedItself() -> Bool {
        linux_await_end(pid, Self.endGrace) == 1
    }

    /// Whether another process has killed it: the system for lack of memory, or an operator. No decoder does
    /// that.
    ///
    /// To be called once it has exited.
    var wasKilled: Bool { hasEnded && Self.externalSignals.contains(endSignal) }

    private static let externalSignals: [CInt] = [SIGKILL, SIGTERM, SIGINT, SIGHUP]
    /// Milliseconds in which one that has closed its socket must have exited.
    private static let endGrace: CInt = 1_000

    /// One that was exiting already keeps its exit signal.
    @discardableResult
    private static func end(_ pid: pid_t) -> CInt {
        kill(pid, SIGKILL)
        var status: CInt = 0
        _ = retryingOnInterrupt { unsafe Int(waitpid(pid, &status, 0)) }
        return status & 0x7F
    }

    /// Processor time that it has used so far.
    borrowing func processorTime() -> Duration {
        var clock = clockid_t()
        var time = timespec()
        guard unsafe clock_getcpuclockid(pid, &clock) == 0, unsafe clock_gettime(clock, &time) == 0 else {
            return .zero
        }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Processor time that its last job has taken so far.
    borrowing func jobTime() -> Duration { processorTime() - timeBefore }

    /// Answers a worker that has measured its job.
    borrowing func answer(_ order: WorkerProtocol.Order) throws(WorkerProtocol.Failure) {
        try WorkerProtocol.send(order, over: socket.raw)
    }

    /// Sends a job with its descriptors.
    mutating func send(_ order: RenderOrder, with descriptors: [CInt]) throws(WorkerProtocol.Failure) {
        jobs += 1
        timeBefore = processorTime()
        try WorkerProtocol.send(WorkerProtocol.Order.render(order), with: descriptors, over: socket.raw)
    }

    /// Receives the next message; blocks unless `wait` has announced one.
    borrowing func receive() throws(WorkerProtocol.Failure) -> WorkerProtocol.Reply {
        try WorkerProtocol.receive(WorkerProtocol.Reply.self, over: socket.raw).message
    }

    /// Waits for the worker, for the alert, or until `deadline` (nil: without end).
    borrowing func wait(
        alert: CInt, until deadline: ContinuousClock.Instant?, by clock: PoolClock
    ) -> Event {
        while true {
            let left = deadline.map { $0 - clock.now() }
            var polled = [
                pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: alert, events: Int16(POLLIN), revents: 0),
            ]
            let count = unsafe poll(&polled, nfds_t(polled.count), Self.milliseconds(in: left))
            if count < 0 { continue }
            if polled[1].revents != 0 { return .alert }
            if polled[0].revents != 0 { return .message }
            if let deadline, deadline <= clock.now() { return .deadline }
        }
    }

    /// Milliseconds for poll(2), rounded up so that it never spins just before the deadline.
    private static func milliseconds(in left: Duration?) -> CInt {
        guard let left else { return -1 }
        guard left > .zero else { return 0 }
        return CInt(clamping: Int(left / .milliseconds(1)) + 1)
    }
}
