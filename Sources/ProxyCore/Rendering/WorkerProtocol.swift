// SPDX-License-Identifier: Apache-2.0

import Bodies
import CLinux
import FoundationEssentials
import Glibc
import Imaging
import Primitives

/// The messages between the daemon and a worker: JSON, one value a message, over `SOCK_SEQPACKET`.
enum WorkerProtocol {
    /// The worker's end of the socket.
    static let socketDescriptor: CInt = 3
    /// The maximum size of a message in bytes, in both directions; a plan is far below it.
    static let messageLimit = 64 << 10
    /// The argument that makes the binary a worker.
    static let argument = "worker"
    /// The whole environment of a worker: one arena, since several would retain what one job freed.
    static let environment = "MALLOC_ARENA_MAX=1"

    /// The messages of the daemon.
    enum Order: Codable {
        /// Comes first: the limits that the worker applies to itself.
        case configure(WorkerSettings)
        /// A job; comes with the descriptors of source, destination, each watermark of its plan, and its
        /// intermediate.
        case render(RenderOrder)
        /// The job may take the memory that it has requested.
        case proceed
        /// It may not; the worker answers with this error.
        case refuse(RenderError)
    }

    /// The messages of a worker.
    enum Reply: Codable {
        /// It has warmed up, is sandboxed, and waits for jobs.
        case ready(SandboxReport)
        /// It could not be sandboxed or does not work; for the log.
        case unfit(String)
        /// The header is read and within the limits; the pixels may take so many bytes, and so much work, in
        /// weighted megapixels. The worker waits for the order to proceed.
        case measured(bytes: Int, work: Int)
        /// The last job is done.
        case finished(Rendition)
        /// The last job has failed.
        case failed(RenderError)
        /// The last job has failed and the worker exits, because memory ran out.
        case exhausted(RenderError)
    }

    /// Why a message was not transferred.
    enum Failure: Error {
        /// The other end is closed or broken.
        case closed
        /// The message is none of these, or too large.
        case malformed
    }

    /// Sends one message with descriptors, of which the receiver gets copies.
    static func send(
        _ message: some Encodable, with descriptors: [CInt] = [], over socket: CInt
    ) throws(Failure) {
        // Ignored: the encoder's error; only a value with no JSON form could cause it.
        guard let bytes = try? JSONEncoder().encode(message), bytes.count <= messageLimit else {
            throw .malformed
        }
        let text = [UInt8](bytes)
        let sent = retryingOnInterrupt {
            unsafe linux_send_message(socket, text, text.count, descriptors, CInt(descriptors.count))
        }
        guard sent == text.count else { throw .closed }
    }

    /// Receives one message and its descriptors; blocks. No descriptor is accepted unless `descriptorLimit`
    /// permits it.
    static func receive<Message: Decodable>(
        _ type: Message.Type, descriptorLimit: Int = 0, over socket: CInt
    ) throws(Failure) -> (message: Message, descriptors: [OwnedDescriptor]) {
        var buffer = [UInt8](repeating: 0, count: messageLimit)
        var numbers = [CInt](repeating: -1, count: Int(LINUX_MAX_DESCRIPTORS))
        var count: CInt = 0
        let received = retryingOnInterrupt {
            unsafe linux_receive_message(
                socket, &buffer, buffer.count, &numbers, CInt(descriptorLimit), &count)
        }
        let descriptors = numbers.prefix(Int(count)).map { OwnedDescriptor(owning: $0) }
        guard received > 0 else { throw received < 0 && errno == EMSGSIZE ? .malformed : .closed }
        // Ignored: where the JSON is wrong; the sender is the same binary, or compromised.
        guard let message = try? JSONDecoder().decode(type, from: Data(buffer.prefix(received))) else {
            throw .malformed
        }
        return (message, descriptors)
    }
}

/// The limits that a worker applies to itself before its first job.
struct WorkerSettings: Codable, Equatable {
    /// Address space in bytes; 0 means no limit.
    var addressSpace: Int
    /// Scheduling niceness, 0–19.
    var niceness: Int
    /// Whether a missing part of the sandbox prevents its start.
    var sandbox: TransformConfiguration.Sandbox
}

/// One job of a worker.
struct RenderOrder: Codable {
    var plan: RenderPlan
    var sourceOffset: Int64
    var sourceLength: Int64
    var destinationOffset: Int64
    /// Where an intermediate begins in its file; nil if none is written.
    var intermediateOffset: Int64?
    /// Seconds after which the worker ends itself, in case the daemon no longer exists.
    var alarmSeconds: UInt32
    /// Address space in bytes until the header is read; 0 means no limit but the worker's own.
    var headerSpace: Int
    /// Microseconds of processor time until the header is read.
    var headerTime: Int

    /// Source, destination, each watermark, and the intermediate.
    var descriptorCount: Int { 2 + plan.watermarks.count + (intermediateOffset == nil ? 0 : 1) }
}
