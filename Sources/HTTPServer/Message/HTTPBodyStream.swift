// SPDX-License-Identifier: Apache-2.0

/// A body that arrives over time: the connection asks for the next bytes whenever the client can take some.
///
/// A connection lets go of it as soon as nobody reads it any more, whether all of it has left or the client has; what
/// makes the bytes is to be stopped in `deinit`.
public protocol HTTPBodyStream: AnyObject, Sendable {
    /// Gives the bytes behind those given before.
    ///
    /// On the loop: must not block. Called again only when the piece before has left.
    /// - Parameters:
    ///   - count: most bytes that are wanted in memory; a range of a file may be longer.
    ///   - wake: to be called once, from any thread, when there is more to say after `nothingYet`; not needed otherwise.
    func next(atMost count: Int, orWake wake: @escaping @Sendable () -> Void) -> HTTPBodyStep

    /// What is answered instead where the body breaks before anything of the answer was sent; nil for a plain 502.
    ///
    /// On the loop, after `broken`.
    var replacement: HTTPResponse? { get }
}

extension HTTPBodyStream {
    /// None.
    public var replacement: HTTPResponse? { nil }
}

/// What a body that arrives over time has to say.
public enum HTTPBodyStep: Sendable {
    /// The next bytes, at least one.
    case piece(HTTPBody)
    /// The next bytes have yet to come.
    case nothingYet
    /// All bytes have been given.
    case end
    /// The rest will never come: the connection is cut, so that the client can tell.
    case broken
}
