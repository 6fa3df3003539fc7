// SPDX-License-Identifier: Apache-2.0

/// The actions of a connection's state machine on its socket, its loop and its server.
///
/// A parameter of generic methods, so that calls are direct: the loop's `Connection` acts on a real socket, and a driver of
/// the tests records the actions.
protocol ConnectionDriver: AnyObject, OutputSocket {
    /// What the connection shares with the others of its loop.
    var context: ConnectionContext { get }

    // MARK: The socket

    /// Octets that the socket has taken and the client's host has not acknowledged; the end of this side counts as one.
    var unacknowledgedOctets: Int { get }
    /// Whether the socket has nothing more to read but the end of the client's side.
    var isAtEndOfInput: Bool { get }
    /// Ends this side of the connection, in order.
    func finishSending()
    /// Lets `close` reset the connection, so that the kernel frees what it still has for the client.
    func resetOnClose()
    /// Closes the socket and removes the connection from its loop.
    func close()

    // MARK: The loop

    /// Resumes the connection after the others have had their turn.
    func postpone()
    /// Adds the connection to those that may be idle, unless it is among them.
    func enlist()
    /// Whether a restricted connection may have a task make its answer.
    var mayStartVitalTask: Bool { get }
    /// Starts a task whose response goes to the machine under the number of its answer.
    func startTask(_ work: @escaping @Sendable () async -> HTTPResponse, for answer: UInt64)
    /// The task has given its response.
    func finishTask()
    /// The response of the task is not needed any more.
    func cancelTask()
    /// Resumes a streamed body that had nothing to give; from any thread.
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
    /// The socket took so many; none where a file is shorter than its response announces.
    case took(Int)
    /// The socket's buffer is full until the client takes some.
    case blocked
    /// The client has reset the connection, or left.
    case reset
    case failed
}
