// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import Glibc
import Imaging

/// The inside of a worker process: one job at a time, on one thread, until the daemon closes the socket.
struct Worker {
    /// The worker's end of the socket pair.
    let socket: CInt

    private static let finished: CInt = 0
    private static let failed: CInt = 1
    private static let wrongUsage: CInt = 64

    /// Serves until the end; returns the exit status.
    func run() -> CInt {
        do throws(Ending) {
            try start()
            while try serveOne() {}
            return Self.finished
        } catch {
            switch error {
            case .closed: return Self.finished
            case .malformed: return Self.wrongUsage
            case .unusable: return Self.failed
            }
        }
    }

    private enum Ending: Error {
        case closed, malformed, unusable

        init(_ failure: WorkerProtocol.Failure) {
            switch failure {
            case .closed: self = .closed
            case .malformed: self = .malformed
            }
        }
    }

    // MARK: - Start

    private func start() throws(Ending) {
        linux_restore_fault_signals()
        guard linux_die_with_parent() == 0 else { throw .unusable }
        let order = try receive().message
        guard case .configure(let settings) = order else { throw .malformed }
        try restrict(settings)
    }

    /// From here on nothing but the sandbox's files, this socket and the jobs' descriptors can be reached.
    private func restrict(_ settings: WorkerSettings) throws(Ending) {
        let report: SandboxReport
        do throws(Sandbox.Failure) {
            report = try Sandbox(settings: settings).restrict()
        } catch {
            switch error {
            case .impossible(let part): try send(.unfit("it can't be restricted: \(part)"))
            case .unusable(let reason): try send(.unfit(reason))
            }
            throw .unusable
        }
        try send(.ready(report))
    }

    // MARK: - Jobs

    /// Runs the next job; false if the process should end.
    private func serveOne() throws(Ending) -> Bool {
        let (order, descriptors) = try receive()
        guard case .render(var job) = order, descriptors.count == job.descriptorCount else {
            throw .malformed
        }
        for (index, image) in job.plan.watermarks.enumerated() {
            job.plan.watermarks[index] = image.holding(DescriptorBytes.all(of: descriptors[2 + index].raw))
        }
        limitHeader(job)
        let intermediateTarget = job.intermediateOffset.flatMap { offset in
            descriptors.last.map { FilePlace(file: $0, offset: offset) }
        }
        let reply = reply(
            to: job, from: descriptors[0], into: descriptors[1], intermediateTarget: intermediateTarget)
        alarm(0)
        unlimitHeader()
        try send(reply)
        if case .exhausted = reply { return false }
        return true
    }

    /// If the daemon is killed, only this limit stops a picture that loops for ever.
    private func limitHeader(_ job: RenderOrder) {
        alarm(job.alarmSeconds)
        // Ignored in these: an errno that only a wrong argument could cause; the daemon's own deadline applies
        // as well.
        _ = linux_arm_processor_time(job.headerTime)
        if job.headerSpace > 0 { _ = linux_limit_address_space_softly(UInt64(job.headerSpace)) }
    }

    private func unlimitHeader() {
        _ = linux_arm_processor_time(0)
        _ = linux_limit_address_space_softly(.max)
    }

    /// Requests the daemon's permission for so many bytes and so much work; waits as long as it takes.
    private func admit(_ bytes: Int, _ work: Int, _ job: RenderOrder) throws(RenderError) {
        alarm(0)
        unlimitHeader()
        let answer: WorkerProtocol.Order
        do throws(Ending) {
            try send(.measured(bytes: bytes, work: work))
            answer = try receive().message
        } catch {
            // The daemon has exited, or treats this worker as exited.
            exit(Self.finished)
        }
        switch answer {
        case .proceed: alarm(job.alarmSeconds)
        case .refuse(let error): throw error
        case .configure, .render: exit(Self.wrongUsage)
        }
    }

    private func reply(
        to job: RenderOrder, from source: OwnedDescriptor, into destination: OwnedDescriptor,
        intermediateTarget: FilePlace?
    ) -> WorkerProtocol.Reply {
        let opened = VipsSource.copy(
            of: source.raw, from: job.sourceOffset, length: Int(job.sourceLength))
        guard let opened else { return .failed(.systemFailure("the source can't be read")) }
        var isRefused = false
        do {
            return .finished(
                try RenderEngine(plan: job.plan, isOnlyJobInProcess: true).execute(
                    opened, into: destination.raw, at: job.destinationOffset,
                    intermediateTarget: intermediateTarget.map { ($0.file.raw, $0.offset) }
                ) { (bytes, work) throws(RenderError) in
                    isRefused = true
                    try admit(bytes, work, job)
                    isRefused = false
                })
        } catch {
            return error == .outOfMemory && !isRefused ? .exhausted(error) : .failed(error)
        }
    }

    private func receive() throws(Ending) -> (
        message: WorkerProtocol.Order, descriptors: [OwnedDescriptor]
    ) {
        do {
            return try WorkerProtocol.receive(
                WorkerProtocol.Order.self, descriptorLimit: Int(LINUX_MAX_DESCRIPTORS), over: socket)
        } catch {
            throw Ending(error)
        }
    }

    private func send(_ reply: WorkerProtocol.Reply) throws(Ending) {
        do { try WorkerProtocol.send(reply, over: socket) } catch { throw Ending(error) }
    }
}

/// The entry of `imageproxyd worker`.
package enum WorkerMain {
    /// Serves jobs from descriptor 3 until the daemon closes its end; the process then exits with 0.
    ///
    /// Started by anything but the daemon it exits with 64 (`EX_USAGE`).
    package static func run() -> Never {
        exit(Worker(socket: WorkerProtocol.socketDescriptor).run())
    }
}
