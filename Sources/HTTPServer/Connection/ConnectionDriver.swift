// SPDX-License-Identifier: Apache-2.0

/// The actions of a connection's state machine on its socket, its loop and its server.
///
/// A parameter of generic methods, so that calls are direct: the loop's `Connection` acts on a real socket, and a driver of
/// the tests records the actions.
protocol ConnectionDriver: AnyObject, OutputSocket {
    /// What the connection shares with the others of its loop.
    var context: ConnectionContext { get }

    // MARK: The socket

    /// Octets that the socket has taken and the client's host has not acknowledged; the FIN of this side
    /// counts as one.
    var unacknowledgedOctets: Int { get }
    /// Whether the socket has nothing more to read but the client's FIN.
    var isAtEndOfInput: Bool { get }
    /// Half-closes: sends FIN after all octets.
    func finishSending()
    /// Makes `close` reset the connection, so that the kernel frees what it still holds for the client.
    func resetOnClose()
    /// Closes the socket and removes the connection from its loop.
    func close()

    // MARK: The loop

    /// The time now in nanoseconds; the times that are passed to the machine are those at which its turns began.
    var time: UInt64 { get }
    /// Resumes the connection after the others have had their turn.
    func postpone()
    /// Adds the connection to those that may be idle, unless it is among them.
    func enlist()
    /// Whether a restricted connection may have a task make its answer.
    var mayStartVitalTask: Bool { get }
    /// Starts a task whose response is delivered to the machine under the number of its answer.
    func startTask(_ work: @escaping @Sendable () async -> HTTPResponse, answerNumber: UInt64)
    /// The task has returned its response.
    func finishTask()
    /// The response of the task is no longer needed.
    func cancelTask()
    /// Resumes a streamed body that had no bytes; from any thread.
    var wake: @Sendable () -> Void { get }

    // MARK: The server

    /// Counts a refusal or a cut connection.
    func reject(_ reason: HTTPServer.RejectionReason)
    /// Reports how an exchange ended.
    func report(_ exchange: inout HTTPExchange)
}

/// A socket that takes as many octets as its buffer has space for.
protocol OutputSocket {
    /// Hot path: sends the first `count` of the pieces; `hasMore` announces that a file follows.
    func send(_ pieces: inout SendQueue.Vectors, _ count: Int, hasMore: Bool) -> SendResult
    /// Sends a part of a file.
    func sendFile(_ file: CInt, _ range: Range<Int64>) -> SendResult
}

/// The result of an attempt to send octets.
enum SendResult {
    /// The socket took so many octets; 0 if a file is shorter than its response announces.
    case took(Int)
    /// The socket's buffer is full until the client reads.
    case blocked
    /// The client has reset the connection, or disconnected.
    case reset
    case failed
}
