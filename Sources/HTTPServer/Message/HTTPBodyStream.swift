// SPDX-License-Identifier: Apache-2.0

/// A body that arrives over time: the connection requests the next bytes whenever the client can take some.
///
/// A connection releases it as soon as no client reads it any more, whether it was sent completely or the
/// client has disconnected; stop in `deinit` what makes the bytes.
public protocol HTTPBodyStream: AnyObject, Sendable {
    /// Returns the bytes after those returned before.
    ///
    /// On the loop: must not block. Called again only when the piece before has been sent.
    /// - Parameters:
    ///   - count: the maximum number of bytes in memory; a range of a file may be longer.
    ///   - wake: to be called once, from any thread, when there is more after `nothingYet`; not needed
    ///     otherwise.
    func next(atMost count: Int, orWake wake: @escaping @Sendable () -> Void) -> HTTPBodyStep

    /// The answer to send instead if the body breaks before anything was sent; nil for a plain 502.
    ///
    /// On the loop, after `broken`.
    var replacement: HTTPResponse? { get }
}

extension HTTPBodyStream {
    /// No replacement.
    public var replacement: HTTPResponse? { nil }
}

/// A step of a body that arrives over time.
public enum HTTPBodyStep: Sendable {
    /// The next bytes, at least one.
    case piece(HTTPBody)
    /// The next bytes have yet to come.
    case nothingYet
    /// All bytes have been given.
    case end
    /// The rest will never come: the connection is cut, so that the client detects it.
    case broken
}
