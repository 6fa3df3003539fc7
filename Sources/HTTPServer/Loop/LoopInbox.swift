// SPDX-License-Identifier: Apache-2.0

import CLinux
import Glibc
import Synchronization

/// Messages of other threads to a loop; one wake-up for each change from empty to filled.
final class LoopInbox: Sendable {
    enum Message: Sendable {
        case connection(CInt, PeerAddress, isRestricted: Bool)
        /// The loop that accepted it has reached its limit.
        case accepted(AcceptedSocket)
        /// A task has made the answer with this number to the connection.
        case answer(connection: UInt64, answerNumber: UInt64, HTTPResponse)
        /// A streamed body has more bytes.
        case wake(connection: UInt64)
        /// Each answer is the last one of its connection from now on.
        case beginDrain(CheckedContinuation<Void, Never>)
        /// Accept all connections of the backlogs; false if there was no descriptor for some.
        case emptyBacklogs(CheckedContinuation<Bool, Never>)
        case stopAccepting(CheckedContinuation<Void, Never>)
        /// Resumed when no connection is left.
        case awaitEnd(CheckedContinuation<Void, Never>)
        case cut
        case ping(CheckedContinuation<Void, Never>)
        case end
    }

    /// Readable while there are messages.
    let descriptor: CInt
    private let messages = Mutex<[Message]>([])

    init() throws(SocketError) {
        descriptor = try check("eventfd", eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK)))
    }

    deinit {
        close(descriptor)
        // Sockets that another loop accepted and passed to one that had ended meanwhile.
        for message in messages.withLock({ $0 }) {
            switch message {
            case .connection(let socket, _, _): close(socket)
            case .accepted(let accepted): close(accepted.socket)
            default: continue
            }
        }
    }

    /// Adds a message; from any thread.
    func post(_ message: Message) {
        let wasEmpty = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        if wasEmpty { eventfd_write(descriptor, 1) }
    }

    /// Removes and returns all messages; on the loop.
    func take() -> [Message] {
        var count: eventfd_t = 0
        _ = unsafe eventfd_read(descriptor, &count)
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
